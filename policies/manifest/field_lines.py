"""The line of a field in a composed YAML tree, for messages that name one."""

import re

from yaml.nodes import MappingNode, Node, SequenceNode

INDEX = re.compile(r"\[([0-9]{1,9})\]")


def field_line(root: Node, path: str) -> int:
    """The line, from 1, where the field at `path` stands, or the nearest parent that is there.

    A path is `spec.containers[0].name`; a key that is no plain word may stand in brackets,
    `metadata.annotations[example.com/key]`, or behind a dot as it is.
    """
    node, rest, line = root, path, root.start_mark.line
    while rest:
        step = _step(node, rest)
        if step is None:
            break
        node, rest, line = step
    return int(line) + 1


def _step(node: Node, path: str) -> tuple[Node, str, int] | None:
    """The child that the path enters, the rest of the path, and the child's line."""
    if isinstance(node, SequenceNode):
        match = INDEX.match(path)
        if match is None or int(match[1]) >= len(node.value):
            return None
        child = node.value[int(match[1])]
        return child, path[match.end() :], child.start_mark.line
    if not isinstance(node, MappingNode):
        return None
    path = path.removeprefix(".")
    found: tuple[Node, str, int] | None = None
    length = 0
    for key, child in node.value:
        end = _key_end(key.value, path) if isinstance(key.value, str) else 0
        if end > length:  # the longest key that fits: keys may hold dots
            length, found = end, (child, path[end:], key.start_mark.line)
    return found


def _key_end(key: str, path: str) -> int:
    """How much of the path this key takes, 0 when it is another key."""
    if key and path.startswith(key) and path[len(key) : len(key) + 1] in ("", ".", "["):
        return len(key)
    bracketed = f"[{key}]"
    return len(bracketed) if path.startswith(bracketed) else 0
