"""What the API server itself counts of our webhook: calls that failed, patches that it could not use."""

import re
from collections.abc import Iterator, Mapping

from tests.cluster.kubectl import Kubectl

OURS = ".mgpu-hybrid.io"
SAMPLE = re.compile(r"(?P<name>[a-z0-9_]+)(\{(?P<labels>.*)\})? (?P<value>\S+)")
LABEL = re.compile(r'(\w+)="([^"]*)"')

Counts = Mapping[tuple[str, str], float]
"""(hook or metric, kind of fault) and how often since the API server started."""


def faults_of_webhook(kubectl: Kubectl) -> Counts:
    """Every count of our hooks other than their own refusals, and of faulty webhook certificates.

    `fail_open` counts calls that failed and were let through, which nobody else would notice.
    """
    return dict(_faults(kubectl.succeed("get", "--raw", "/metrics").out))


def refusals_by_webhook(kubectl: Kubectl) -> float:
    """How often one of our hooks refused: shows that the API server counts under these names."""
    samples = _samples(kubectl.succeed("get", "--raw", "/metrics").out)
    return sum(
        value
        for name, labels, value in samples
        if name == "apiserver_admission_webhook_rejection_count"
        and labels["name"].endswith(OURS)
        and labels["error_type"] == "no_error"
    )


def _faults(metrics: str) -> Iterator[tuple[tuple[str, str], float]]:
    for name, labels, value in _samples(metrics):
        hook = labels.get("name", "")
        if name.startswith("apiserver_webhooks_x509"):
            yield (name, "certificate"), value
        elif not hook.endswith(OURS):
            continue
        elif name == "apiserver_admission_webhook_fail_open_count":
            yield (hook, "fail_open"), value
        elif name == "apiserver_admission_webhook_rejection_count":
            if labels["error_type"] != "no_error":
                yield (f"{hook} {labels['operation']}", labels["error_type"]), value
        elif name == "apiserver_admission_match_condition_evaluation_errors_total":
            yield (hook, "match_condition"), value


def _samples(metrics: str) -> Iterator[tuple[str, Mapping[str, str], float]]:
    for line in metrics.splitlines():
        sample = SAMPLE.fullmatch(line)
        if sample:
            yield (
                sample["name"],
                dict(LABEL.findall(sample["labels"] or "")),
                float(sample["value"]),
            )
