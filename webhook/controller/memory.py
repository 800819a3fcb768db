"""What is written on the nodes, as far as the live nodes do not say it.

They say the label, a moment late, and not the annotation. So a new leader reads the annotations of the
ineligible nodes once, and from then on remembers what it wrote: only the leader writes. What is not
remembered is written again, which changes nothing where it is right.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from policies.eligibility import BECAUSE_ANNOTATION, INELIGIBLE
from policies.errors import MalformedError
from policies.node import Node
from policies.policy import ELIGIBLE_LABEL
from policies.raw import JsonObject, object_at, objects_at, string_at, strings_at
from webhook.controller.plan import NodeRecord, OnNode, Write, label_of

INELIGIBLE_NODES = {"labelSelector": f"{ELIGIBLE_LABEL}={INELIGIBLE}"}
ECHO_SECONDS = 10.0
"""How long the live nodes may lag behind a write before they are believed again."""


@dataclass(frozen=True, slots=True)
class Echo:
    """A write that the live nodes may not show yet."""

    before: str | None
    """The label that they showed when it was written."""
    written: OnNode
    until_seconds: float


class Memory:
    """What this leader knows of the nodes' annotations and of its own last writes."""

    def __init__(self, pages: Iterable[JsonObject]) -> None:
        """`pages` is the list of INELIGIBLE_NODES. Raises MalformedError when it is none."""
        self._because: dict[str, str] = {}
        self._echoes: dict[str, Echo] = {}
        for page in pages:
            for raw in objects_at(page, "items", ""):
                self._learn(raw)

    def record(self, node: Node, now_seconds: float) -> NodeRecord:
        """What is on this node now; a write that it does not show yet counts."""
        label = label_of(node)
        echo = self._echoes.get(node.name)
        if echo is not None:
            if label == echo.before and now_seconds < echo.until_seconds:
                return NodeRecord(node, echo.written)
            del self._echoes[node.name]
        because = self._because.get(node.name) if label == INELIGIBLE else None
        return NodeRecord(node, OnNode(label, because))

    def note(self, write: Write, now_seconds: float) -> None:
        """Remember what was written."""
        written = write.becomes
        if written.because is None:
            self._because.pop(write.node_name, None)
        else:
            self._because[write.node_name] = written.because
        until_seconds = now_seconds + ECHO_SECONDS
        self._echoes[write.node_name] = Echo(write.now.label, written, until_seconds)

    def keep_only(self, names: set[str]) -> None:
        """Forget every other node: it is gone."""
        for known in (self._because, self._echoes):
            for name in known.keys() - names:
                del known[name]

    def _learn(self, raw: JsonObject) -> None:
        try:
            metadata = object_at(raw, "metadata", "")
            because = strings_at(metadata, "annotations", "metadata").get(BECAUSE_ANNOTATION)
            name = string_at(metadata, "name", "metadata")
        except MalformedError:
            return  # such a node is not among the live nodes either
        if because is not None:
            self._because[name] = because
