"""What the webhook counts, and how to count it without resolving labels for each request.

The registry is passed in. In a server of several processes prometheus_client keeps the values in
files that `/metrics` sums, which is why every gauge says how processes combine. Every label value comes
from a fixed set, or from the rules' ids: nothing that a request can make up becomes a series.
"""

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from policies.facts import Operation
from webhook.hooks import Hook
from webhook.outcome import Outcome
from webhook.review import Review

OPERATIONS = frozenset(operation.value for operation in Operation)
OTHER_OPERATION = "other"
BUCKETS_SECONDS = (
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5,
)  # fmt: skip


class Children:
    """The children of one counter by label values, each resolved once."""

    def __init__(self, counter: Counter) -> None:
        self._counter = counter
        self._increments: dict[tuple[str, ...], Callable[[], None]] = {}

    def increment(self, *labels: str) -> None:
        """Count one."""
        increment = self._increments.get(labels)
        if increment is None:
            increment = self._increments[labels] = self._counter.labels(*labels).inc
        increment()


class Metrics:
    """Every metric of the webhook, registered with `registry`."""

    def __init__(self, registry: CollectorRegistry) -> None:
        def counter(name: str, documentation: str, *labels: str) -> Counter:
            return Counter(f"mgpu_hybrid_{name}", documentation, labels, registry=registry)

        self._requests = Children(
            counter(
                "admission_requests",
                "Admission requests that were answered with a review.",
                "hook",
                "operation",
                "verdict",
                "dry_run",
            )
        )
        self._findings = Children(
            counter("findings", "Findings of rules, by action.", "rule", "action")
        )
        self._rule_errors = Children(
            counter("rule_errors", "Rules that failed, and `webhook` for the rest.", "rule")
        )
        self._skipped = Children(
            counter("skipped", "Requests that were not judged, by reason.", "hook", "reason")
        )
        self.bad_requests = Children(
            counter("bad_requests", "Requests refused before they had an answer.", "reason")
        )
        self.pod_lookups = Children(
            counter(
                "pod_lookups",
                "Questions to the API server about pods, while a request waited.",
                "about",
                "result",
            )
        )
        self.refused_connections = counter(
            "connections_refused",
            "Connections turned away because every other one of the port was at work on a request.",
            "port",
        )
        self._patches = counter("patches", "Answers with a patch.")
        self._unpatchable = counter("unpatchable", "Pods that could not be patched safely.")
        self.policy_reload_failures = counter(
            "policy_reload_failures",
            "Changes of the policy file that could not be used, counted by each worker process.",
        )
        self.nodes_reload_failures = counter(
            "nodes_reload_failures",
            "Changes of the nodes file that could not be used, counted by each worker process.",
        )
        self.policy_info = Gauge(
            "mgpu_hybrid_policy_info",
            "1 for the policy in force, by the digest of its content.",
            ("digest",),
            registry=registry,
            multiprocess_mode="livemax",
        )
        self.gpu_nodes = Gauge(
            "mgpu_hybrid_nodes",
            "GPU nodes in the snapshot that decisions are made with, node pools included.",
            registry=registry,
            multiprocess_mode="livemax",
        )
        self.certificate_expiry = Gauge(
            "mgpu_hybrid_certificate_expiry_timestamp_seconds",
            "When the serving certificate in force expires, in seconds since 1970.",
            registry=registry,
            multiprocess_mode="livemin",
        )
        self._duration = Histogram(
            "mgpu_hybrid_admission_duration_seconds",
            "From a complete request body to the bytes of the answer.",
            ("hook",),
            registry=registry,
            buckets=BUCKETS_SECONDS,
        )

    def duration_of(self, hook: Hook) -> Callable[[float], None]:
        """What takes the seconds of one request of this hook."""
        return self._duration.labels(hook.name).observe

    def count(self, hook: Hook, review: Review | None, outcome: Outcome) -> None:
        """Count one answered request; `review` is None when it could not be read."""
        operation = review.operation if review is not None else ""
        dry_run = "true" if review is not None and review.is_dry_run else "false"
        self._requests.increment(
            hook.name,
            operation if operation in OPERATIONS else OTHER_OPERATION,
            outcome.verdict.value,
            dry_run,
        )
        if outcome.answer.patch:
            self._patches.inc()
        if outcome.skipped:
            self._skipped.increment(hook.name, outcome.skipped)
        if outcome.unpatchable:
            self._unpatchable.inc()
        if outcome.error:
            self._rule_errors.increment("webhook")
        for finding in outcome.findings:
            self._findings.increment(finding.rule, finding.action.value)
        for failure in outcome.failures:
            self._rule_errors.increment(failure.rule)
