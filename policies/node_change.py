"""Facts about a change of a Node object: who makes it, what it switches, and whose pods stand in the way."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from policies.errors import MalformedError
from policies.facts import Violation
from policies.node import FIXED_SHARE, MODE_MGPU, MODE_NVIDIA
from policies.pod import PodClass, parse_pod
from policies.policy import Keys, Policy
from policies.raw import EMPTY, JsonObject, object_at, strings_at

FINISHED_PHASES = ("Succeeded", "Failed")


@dataclass(frozen=True, slots=True)
class NodeSettings:
    """What a node's labels say of its GPUs. Modes are effective: an absent label means `nvidia`."""

    mode: str
    mode_label: str | None
    compute_policy: str

    def differences(self, new: "NodeSettings") -> tuple[tuple[str, str, str], ...]:
        """(what, before, after) of each setting that changes for the work on the node.

        The compute policy means something on mGPU nodes only: where the mode is another one before and
        after, changing the label changes nothing.
        """
        found = []
        if self.mode != new.mode:
            found.append(("scheduling mode", self.mode, new.mode))
        if self.compute_policy != new.compute_policy and MODE_MGPU in (self.mode, new.mode):
            found.append(("compute policy", self.compute_policy, new.compute_policy))
        return tuple(found)


@dataclass(frozen=True, slots=True)
class HoldingPod:
    """An unfinished pod on the node that holds GPU compute or memory."""

    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class NodeChange:
    """An UPDATE of a Node and everything that the verdict depends on.

    `pods` are the pods that hold GPUs there, None when they could not be asked, with the reason in
    `pods_unknown_because`. They are asked only for a change that switches something.
    """

    name: str
    old: NodeSettings
    new: NodeSettings
    policy: Policy
    username: str = ""
    groups: tuple[str, ...] = ()
    pods: tuple[HoldingPod, ...] | None = ()
    pods_unknown_because: str = ""

    @property
    def is_switch(self) -> bool:
        """Whether the change matters to the work on the node."""
        return bool(self.old.differences(self.new))


@dataclass(frozen=True, slots=True)
class NodeChangeRule:
    """A check of one change of a Node."""

    id: str
    title: str
    remedy: str
    source: str
    check: Callable[[NodeChange], Iterable[Violation]]


def holding_pods(raw_pods: Iterable[JsonObject], policy: Policy) -> Iterator[HoldingPod]:
    """The unfinished pods that hold GPU compute or memory, whatever their class.

    A pod that cannot be read counts: what is there is not known.
    """
    for raw in raw_pods:
        metadata, status = raw.get("metadata"), raw.get("status")
        phase = status.get("phase") if isinstance(status, dict) else None
        names = metadata if isinstance(metadata, dict) else EMPTY
        if phase in FINISHED_PHASES:
            continue
        try:
            holds = parse_pod(raw, policy).pod_class is not PodClass.NONE
        except MalformedError:
            holds = True
        if holds:
            yield HoldingPod(str(names.get("namespace") or ""), str(names.get("name") or ""))


def node_settings(raw: JsonObject, keys: Keys) -> NodeSettings:
    """The settings of a Node object. Raises MalformedError when a label is no string."""
    labels: Mapping[str, str] = strings_at(object_at(raw, "metadata", ""), "labels", "metadata")
    label = labels.get(keys.gpu_schedule)
    return NodeSettings(
        mode=MODE_NVIDIA if label is None else label,
        mode_label=label,
        compute_policy=labels.get(keys.compute_policy, FIXED_SHARE),
    )
