"""Nodes found by label, taint and profile without looking at each of them.

A set of nodes is the bits of one integer, node i being bit i, so that selectors are ANDs and ORs of a few
integers however many nodes there are: 15,000 nodes are 1,875 bytes. Which nodes hold a label is found out
when a selector first asks for its key, and kept. The semantics are those of `node_selector`, and a
property test holds the two together.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from policies.node_selector import (
    NODE_NAME_FIELD,
    Requirement,
    SelectorTerm,
    is_valid,
    matches_requirement,
)

Bits = int


class NodeIndex:
    """An index over nodes given by name and labels, in the order of their bits."""

    __slots__ = ("_labels", "_masks", "_positions", "_present", "everything", "names")

    def __init__(self, names: Sequence[str], labels: Sequence[Mapping[str, str]]) -> None:
        self.names = {name: position for position, name in enumerate(names)}
        self.everything: Bits = (1 << len(names)) - 1
        self._labels = labels
        self._positions: dict[str, dict[str, list[int]]] = {}
        self._masks: dict[tuple[str, str], Bits] = {}
        self._present: dict[str, Bits] = {}

    @property
    def keys(self) -> tuple[str, ...]:
        """The label keys that selectors have asked for so far."""
        return tuple(self._positions)

    def prepare(self, keys: Iterable[str]) -> None:
        """Find the nodes of these labels now, so that no request has to."""
        for key in keys:
            self._values(key)

    def with_label(self, key: str, value: str) -> Bits:
        """The nodes whose label `key` has this value."""
        mask = self._masks.get((key, value))
        if mask is None:
            mask = bits_of(self._values(key).get(value, ()), len(self._labels))
            self._masks[key, value] = mask
        return mask

    def with_key(self, key: str) -> Bits:
        """The nodes that have the label, whatever its value."""
        mask = self._present.get(key)
        if mask is None:
            positions = chain.from_iterable(self._values(key).values())
            mask = bits_of(positions, len(self._labels))
            self._present[key] = mask
        return mask

    def named(self, name: str) -> Bits:
        """The node of this name, no bit where there is none."""
        position = self.names.get(name)
        return 0 if position is None else 1 << position

    def in_terms(self, terms: Iterable[SelectorTerm]) -> Bits:
        """The nodes that any of the terms matches."""
        found = 0
        for term in terms:
            found |= self.in_term(term)
        return found

    def in_term(self, term: SelectorTerm) -> Bits:
        """The nodes that match every requirement of the term; an empty term matches nothing."""
        if not term.expressions and not term.fields:
            return 0
        found = self.everything
        for requirement in term.expressions:
            found &= self.holding(requirement)
        for field in term.fields:
            found &= self._holding_field(field)
        return found

    def holding(self, requirement: Requirement) -> Bits:
        """The nodes whose labels hold the requirement."""
        key = requirement.key
        if not is_valid(requirement):
            return 0
        match requirement.operator:
            case "In":
                return self._with_any(key, requirement.values)
            case "NotIn":
                return self.everything & ~self._with_any(key, requirement.values)
            case "Exists":
                return self.with_key(key)
            case "DoesNotExist":
                return self.everything & ~self.with_key(key)
            case _:
                fitting = [
                    v for v in self._values(key) if matches_requirement(requirement, {key: v})
                ]
                return self._with_any(key, fitting)

    def _with_any(self, key: str, values: Iterable[str]) -> Bits:
        found = 0
        for value in values:
            found |= self.with_label(key, value)
        return found

    def _holding_field(self, field: Requirement) -> Bits:
        if field.key != NODE_NAME_FIELD or len(field.values) != 1:
            return 0
        named = self.named(field.values[0])
        match field.operator:
            case "In":
                return named
            case "NotIn":
                return self.everything & ~named
            case _:
                return 0

    def _values(self, key: str) -> Mapping[str, list[int]]:
        """The positions of the nodes that have the label, by its value."""
        known = self._positions.get(key)
        if known is None:
            known = {}
            for position, labels in enumerate(self._labels):
                value = labels.get(key)
                if value is not None:
                    known.setdefault(value, []).append(position)
            self._positions[key] = known
        return known


def bits_of(positions: Iterable[int], size: int) -> Bits:
    """The set of these positions, each below `size`."""
    octets = bytearray(size // 8 + 1)
    for position in positions:
        octets[position >> 3] |= 1 << (position & 7)
    return int.from_bytes(octets, "little")


def positions_of(bits: Bits, limit: int) -> list[int]:
    """The lowest positions of a set, at most `limit` of them."""
    found: list[int] = []
    while bits and len(found) < limit:
        lowest = bits & -bits
        found.append(lowest.bit_length() - 1)
        bits ^= lowest
    return found
