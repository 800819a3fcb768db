"""What a decision is made from, and what it is: the values between callers, engine and rules."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum

from policies.node import Inventory, NodeProfile, NodeSet
from policies.placement import Placement
from policies.pod import Pod, PodClass
from policies.policy import Action, Injection, Policy, SupportMatrix


class Operation(StrEnum):
    """The API server's words for what is done to an object."""

    CREATE = "CREATE"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    CONNECT = "CONNECT"


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything that a verdict about one pod or pod template depends on.

    `inventory` and `cluster_version` (gitVersion) are None where they are not known: the rules that need
    them are then not judged. `username` is None for files.
    """

    pod: Pod
    policy: Policy
    operation: Operation = Operation.CREATE
    old: Pod | None = None
    username: str | None = None
    inventory: Inventory | None = None
    cluster_version: str | None = None
    placement: Placement | None = None
    """What the pod says of its nodes; filled by the engine where there is an inventory."""
    possible_nodes: NodeSet | None = None
    """The nodes it could land on; filled by the engine where there is an inventory."""
    template_kind: str = ""
    """The workload's kind when the pod is a template, else empty."""
    subresource: str = ""
    """`binding` when `pod` holds the metadata of a Binding, `status` for pods/status, else empty."""
    previous_injections: tuple[Injection, ...] = ()
    """Injections of policies that were in force until a moment ago and still count."""
    is_audit: bool = False
    """Judge what runs, as it is: no rule about the act of creating."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One breach that a rule found. `at_most` caps the action; `remedy` replaces the rule's own."""

    path: str
    message: str
    remedy: str = ""
    at_most: Action = Action.DENY


@dataclass(frozen=True, slots=True)
class Rule:
    """A check of one pod. Rules raise nothing and read nothing but the facts."""

    id: str
    title: str
    remedy: str
    source: str
    classes: frozenset[PodClass]
    """The classes of pod that it judges."""
    check: Callable[[Facts], Iterable[Violation]]
    judges_change: bool = False
    """True for rules about the act itself (CREATE, or old against new). All others judge a state, and on
    an UPDATE only what they newly find counts."""
    for_templates: bool = True
    """Whether it makes sense for a pod template."""
    in_audit: bool = True
    """Whether it makes sense for a pod that runs already."""
    for_bindings: bool = False
    """Whether it judges the annotations of a Binding."""
    needs_inventory: bool = False
    needs_cluster_version: bool = False


@dataclass(frozen=True, slots=True)
class NodeViolation:
    """Why a node cannot take offline pods; `reason` completes "3 nodes have …"."""

    reason: str
    is_unknown: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class NodeRule:
    """A check of one node profile; only the engine combines node verdicts into a pod's.

    Rules are the same only if they are the same object, so that verdicts can be remembered by rule.
    """

    id: str
    title: str
    remedy: str
    source: str
    check: Callable[[NodeProfile, SupportMatrix], Iterable[NodeViolation]]


@dataclass(frozen=True, slots=True)
class Finding:
    """A violation with the action that the policy gives it."""

    rule: str
    action: Action
    path: str
    message: str
    remedy: str

    def __str__(self) -> str:
        """As a person reads it: `[rule] message; remedy`."""
        return f"[{self.rule}] {self.message}; {self.remedy}"


@dataclass(frozen=True, slots=True)
class RuleFailure:
    """A rule that raised: our fault, never the user's. `error` names the exception."""

    rule: str
    error: str


@dataclass(frozen=True, slots=True)
class Decision:
    """The one verdict, for every caller."""

    pod_class: PodClass
    allowed: bool
    findings: tuple[Finding, ...] = ()
    failures: tuple[RuleFailure, ...] = ()
    not_judged: tuple[str, ...] = ()
    """Ids of rules that lacked an inventory or a version."""

    def by_action(self, action: Action) -> tuple[Finding, ...]:
        """The findings that have this action."""
        return tuple(f for f in self.findings if f.action is action)
