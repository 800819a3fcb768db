"""What to do about a finding, in the names and versions of the policy in force.

A rule writes its remedy once, with `{keys.mgpu_core}` or `{driver}` where the policy decides: advice that
names the built-in key to a cluster with another one makes a pod that nobody judges.
"""

from collections.abc import Sequence
from typing import Protocol

from policies.policy import Policy
from policies.versions import KubernetesGate


class HasRemedy(Protocol):
    """A rule of any kind."""

    @property
    def remedy(self) -> str:
        """The remedy with its placeholders."""


def remedy_of(rule: HasRemedy, policy: Policy) -> str:
    """The rule's remedy under this policy."""
    support = policy.support
    return rule.remedy.format(
        keys=policy.keys,
        core=policy.keys.mgpu_core.rpartition("/")[2],
        whole_card=_joined(policy.keys.whole_card, "or"),
        driver=support.driver,
        addon=support.addon,
        general_webhook=support.general_webhook,
        gates=_joined([_gate(gate) for gate in support.kubernetes], "or"),
        compute_policies=_joined(support.compute_policies, "or"),
        unsupported_images=_joined(_distinct(support.unsupported_images), "and"),
    )


def _gate(gate: KubernetesGate) -> str:
    return f"1.{gate.minor}.{gate.patch}" + (f"-vke.{gate.build}" if gate.build else "")


def _distinct(patterns: Sequence[str]) -> list[str]:
    """One of each pattern: case and spaces mean nothing in them."""
    first: dict[str, str] = {}
    for pattern in patterns:
        first.setdefault("".join(pattern.split()).casefold(), pattern)
    return list(first.values())


def _joined(names: Sequence[str], word: str) -> str:
    *most, last = names or ("none",)
    return f"{', '.join(most)} {word} {last}" if most else last
