"""The webhook in force must have the behaviour that hybrid deployment needs.

Field: the policy's `generalWebhookVersion`; by default it is this webhook, which states the version of
Volcengine's general-webhook whose behaviour it has. Allowed: at or above the gate.
"""

from collections.abc import Iterator

from policies.facts import Facts, Rule, Violation
from policies.pod import PodClass
from policies.versions import Support, dotted_support


def check(facts: Facts) -> Iterator[Violation]:
    """A violation when the stated version is too old or cannot be read."""
    version, least = facts.policy.general_webhook_version, facts.policy.support.general_webhook
    match dotted_support(version, least):
        case Support.SUPPORTED:
            return
        case Support.TOO_OLD:
            message = f"general-webhook {version} is older than {least}"
            yield Violation(path=facts.pod.spec_path, message=message)
        case Support.UNKNOWN:
            message = f'general-webhook version "{version}" cannot be compared with {least}'
            yield Violation(
                path=facts.pod.spec_path, message=message, at_most=facts.policy.unknown_facts
            )


RULE = Rule(
    id="general-webhook-version",
    title="The admission webhook in force is new enough for hybrid deployment",
    remedy=(
        "upgrade the general-webhook to {general_webhook} or later, "
        "or correct the policy's `generalWebhookVersion`"
    ),
    source="VKE documentation of hybrid deployment, version requirements",
    classes=frozenset({PodClass.OFFLINE}),
    check=check,
)
