"""YAML text to decoded JSON, document by document, with the line where each object stands.

libyaml composes the node tree (in C) and this file walks it. That is faster than PyYAML's own
constructors, and the nodes carry their lines, so that every item of a long List can be named by its
line. PyYAML's implicit types are switched off; `yaml_scalars` says what a plain scalar means.
"""

from collections.abc import Iterator
from typing import cast

import yaml
from yaml._yaml import CParser
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from yaml.reader import ReaderError

from policies.manifest.manifest_error import ManifestError
from policies.manifest.yaml_scalars import JsonScalar, resolve_plain

MAX_DEPTH = 200
"""Levels of nesting. A honest object has 30, and what works on the result is recursive."""
MAX_ALIASED_VALUES = 1_000_000
"""Values that the aliases of one document may repeat, against alias bombs."""

PLAIN = "tag:yaml.org,2002:plain"
STRING = ""
TAG = "tag:yaml.org,2002:"
STRING_TAGS = frozenset({STRING, TAG + "str"})
PLAIN_TAGS = frozenset({PLAIN, *(TAG + t for t in ("int", "float", "bool", "null", "timestamp"))})


class YamlDocument:
    """One document: its decoded value, and the line of any place in it, counted from 1."""

    __slots__ = ("root", "value")

    def __init__(self, root: Node, value: object) -> None:
        self.root = root
        self.value = value

    @property
    def line(self) -> int:
        """Where the document's value begins, past comments and `---`."""
        return _line(self.root)

    def item_lines(self, key: str) -> list[int]:
        """The lines of the entries of the list under `key` of the top object."""
        for name, value in self.root.value if isinstance(self.root, MappingNode) else ():
            if name.value == key and isinstance(value, SequenceNode):
                return [_line(item) for item in value.value]
        return []


class _Loader(CParser):
    """libyaml's parser and composer without PyYAML's regular expressions for each scalar."""

    def resolve(self, _kind: object, _value: object, implicit: tuple[bool, bool] | bool) -> str:  # noqa: FBT001 - called by PyYAML
        """A marker in place of the tag, for nodes without one."""
        return PLAIN if isinstance(implicit, tuple) and implicit[0] else STRING

    def descend_resolver(self, _parent: object, _index: object) -> None:
        """Paths decide nothing."""

    def ascend_resolver(self) -> None:
        """Paths decide nothing."""


def yaml_documents(text: str, source: str) -> Iterator[YamlDocument]:
    """The documents of a stream that hold anything. Raises ManifestError at the first mistake."""
    try:
        loader = _Loader(text)
        while (root := _next_root(loader)) is not None:
            if isinstance(root, ScalarNode) and root.tag == PLAIN and not root.value:
                continue
            yield YamlDocument(root, _Builder(source).build(root))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise ManifestError(source, mark.line + 1 if mark else 0, _reason(error)) from error
    except ReaderError as error:
        line = text.encode().count(b"\n", 0, error.position) + 1
        found = f"{error.reason} (0x{error.character:02x})"
        raise ManifestError(source, line, f"is not YAML: {found}") from error


def compose(text: str) -> list[Node]:
    """The node trees of the documents that can be read, for looking up lines."""
    roots: list[Node] = []
    try:
        loader = _Loader(text)
        while (root := _next_root(loader)) is not None:
            roots.append(root)
    except yaml.YAMLError:
        pass  # what was reported before is not reported again
    return roots


def _next_root(loader: _Loader) -> Node | None:
    return loader.get_node() if loader.check_node() else None


def _reason(error: yaml.MarkedYAMLError) -> str:
    words = " ".join(part for part in (error.context, error.problem) if part)
    if "cannot start any token" in words:
        words += " (a tab in the indentation, or a value that must be quoted)"
    return f"is not YAML: {words}"


def _line(node: Node) -> int:
    return cast("int", node.start_mark.line) + 1


class _Builder:
    """Turns the node tree of one document into JSON values, and bounds what aliases repeat."""

    __slots__ = ("depth", "repeated", "seen", "source")

    def __init__(self, source: str) -> None:
        self.source = source
        self.depth = 0
        self.repeated = 0
        self.seen: set[int] = set()

    def build(self, node: Node) -> object:
        """The value of a node; an aliased node is built anew: no two values are one object."""
        if type(node) is ScalarNode:
            return node.value if node.tag == STRING else self.scalar(node)
        self._enter(node)
        value: object
        if type(node) is MappingNode:
            value = self.mapping(node)
        else:
            if node.tag not in (STRING, PLAIN, TAG + "seq"):
                raise self._wrong_tag(node)
            value = [self.build(item) for item in node.value]
        self.depth -= 1
        return value

    def scalar(self, node: ScalarNode) -> JsonScalar:
        """A string, number, boolean or null."""
        tag = node.tag
        if tag != PLAIN:
            if tag in STRING_TAGS or not tag.startswith(TAG):
                return cast("str", node.value)
            if tag not in PLAIN_TAGS:
                raise self._wrong_tag(node)
        try:
            return resolve_plain(node.value)
        except ValueError as error:
            raise ManifestError(self.source, _line(node), str(error)) from error

    def mapping(self, node: MappingNode) -> dict[str, object]:
        """An object. Keys that are no strings are written as JSON writes them."""
        if node.tag not in (STRING, PLAIN, TAG + "map"):
            raise self._wrong_tag(node)
        result: dict[str, object] = {}
        merged: list[Node] = []
        for key_node, value_node in node.value:
            if key_node.value == "<<" and key_node.tag == PLAIN:
                merged.append(value_node)
                continue
            key = self.key(key_node)
            if key in result:
                raise ManifestError(self.source, _line(key_node), f"the key {key!r} is there twice")
            result[key] = self.build(value_node)
        for value_node in merged:
            self._merge(value_node, result)
        return result

    def key(self, node: Node) -> str:
        """The key as a string: `true: x` is the key "true", `80: x` is "80"."""
        if not isinstance(node, ScalarNode):
            raise ManifestError(
                self.source, _line(node), "a key must be a string, is an object or a list"
            )
        value = self.scalar(node)
        if isinstance(value, str):
            return value
        if value is None:
            raise ManifestError(self.source, _line(node), "a key must be a string, is null")
        return str(value).lower() if isinstance(value, bool) else str(value)

    def _merge(self, node: Node, into: dict[str, object]) -> None:
        """A merge key `<<`: adds what is not there already."""
        sources = node.value if isinstance(node, SequenceNode) else [node]
        for source in sources:
            value = self.build(source)
            if not isinstance(value, dict):
                raise ManifestError(self.source, _line(node), "`<<` merges objects only")
            for key, item in value.items():
                into.setdefault(key, item)

    def _enter(self, node: Node) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise ManifestError(
                self.source,
                _line(node),
                f"is nested deeper than {MAX_DEPTH} levels, or an alias is inside its own anchor",
            )
        if id(node) not in self.seen:
            self.seen.add(id(node))
            return
        self.repeated += 1 + len(node.value)
        if self.repeated > MAX_ALIASED_VALUES:
            raise ManifestError(
                self.source,
                _line(node),
                f"its aliases repeat more than {MAX_ALIASED_VALUES} values",
            )

    def _wrong_tag(self, node: Node) -> ManifestError:
        tag = node.tag.replace(TAG, "!!")
        return ManifestError(
            self.source, _line(node), f"the tag {tag} has no form in JSON: leave it out"
        )
