"""One YAML document as plain values, with the line of every field.

PyYAML's own constructor forgets positions, lets a later duplicate key win in silence, reads `Off` as
false and `0300` as 192, and an alias can blow a kilobyte up to gigabytes. So only its parser is
used: the events are counted first, then the node graph is turned into JSON's types and nothing else.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

import yaml
from yaml.reader import Reader

from policies.document.mistakes import FieldPath, Mistake, PolicyError, field_text
from policies.document.names import shown

MAX_BYTES = 1024 * 1024
"""A ConfigMap holds no more."""
MAX_DEPTH = 24
MAX_VALUES = 20_000
"""After aliases are expanded."""

# The parser written in C is many times faster; it is missing where PyYAML was built without libyaml.
LOADER: type = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
# A part of YAML 1.2's core schema that YAML 1.1 reads alike. All else is a string, `Off` too.
NULL = re.compile(r"~|null|Null|NULL|")
BOOLEAN = re.compile(r"true|True|TRUE|false|False|FALSE")
INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,17})")
# Only the parser written in Python lets escapes make them.
SURROGATE = re.compile(r"[\ud800-\udfff]")
FLOAT = re.compile(r"[-+]?[0-9]{1,18}\.[0-9]{0,18}")
PLAIN_TAGS = frozenset({"!", *(f"tag:yaml.org,2002:{name}" for name in ("str", "map", "seq"))})


class Mark(Protocol):
    """Where PyYAML says that something stands, from 0; its two parsers have a class each."""

    line: int
    column: int


@dataclass(slots=True)
class PositionedDocument:
    """The values of a document and where they stand. `mistakes` are those of YAML's own level."""

    source: str
    root: yaml.Node
    data: object = None
    mistakes: list[Mistake] = field(default_factory=list)
    values_left: int = MAX_VALUES

    def mistake(self, path: FieldPath, message: str) -> Mistake:
        """A mistake at a field, or at the nearest one around it that the document has."""
        node = self.root
        mark: Mark | None = self.root.start_mark
        for part in path:
            step = _step(node, part)
            if step is None:
                break
            mark, node = step
        return Mistake(*_place(mark), field_text(path), message)


def read_document(text: str | bytes, source: str) -> PositionedDocument:
    """The one document of a file. Raises PolicyError when there is not exactly one, or no YAML."""
    content = _decoded(text, source)
    try:
        _check_events(content, source)
        root = yaml.compose(content, Loader=LOADER)
    except PolicyError:
        raise
    except yaml.MarkedYAMLError as error:
        raise PolicyError(source, (_syntax_mistake(error, content),)) from error
    except (yaml.YAMLError, ValueError) as error:  # ValueError: an escape beyond Unicode
        raise PolicyError(source, (Mistake(1, 1, "", f"is not YAML: {error}"),)) from error
    if root is None:
        raise PolicyError(source, (Mistake(1, 1, "", "the file is empty: it needs a document"),))
    document = PositionedDocument(source, root)
    document.data = _value(document, root, ())
    return document


def _decoded(text: str | bytes, source: str) -> str:
    """The text without a byte order mark.

    Raises PolicyError for what is too large, not UTF-8, or holds control characters.
    """
    try:
        raw = text.encode() if isinstance(text, str) else text
        content = raw.decode("utf-8-sig")
    except UnicodeError as error:
        line = _line_of_error(error)
        mistake = Mistake(line, 1, "", f"is not UTF-8 text ({error}): save the file as UTF-8")
        raise PolicyError(source, (mistake,)) from error
    if len(raw) > MAX_BYTES:
        message = f"has {len(raw)} bytes; a policy file may have {MAX_BYTES}"
        raise PolicyError(source, (Mistake(1, 1, "", message),))
    control = Reader.NON_PRINTABLE.search(content)
    if control:
        line = content.count("\n", 0, control.start()) + 1
        message = f"has the control character {control[0]!r}, which YAML does not allow"
        raise PolicyError(source, (Mistake(line, 1, "", message),))
    return content


def _line_of_error(error: UnicodeError) -> int:
    if isinstance(error, UnicodeDecodeError):
        return error.object.count(b"\n", 0, error.start) + 1
    if isinstance(error, UnicodeEncodeError):
        return error.object.count("\n", 0, error.start) + 1
    return 1


def _check_events(content: str, source: str) -> None:
    """Refuses depth, tags and further documents before anything recursive reads them."""
    depth = documents = 0
    for event in yaml.parse(content, Loader=LOADER):
        documents += isinstance(event, yaml.DocumentStartEvent)
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if documents > 1:
            message = "a second document begins here: a policy file holds one"
        elif depth > MAX_DEPTH:
            message = f"is nested more than {MAX_DEPTH} levels deep"
        elif tag := getattr(event, "tag", None):
            message = f"has the YAML tag {shown(tag)}: a policy file uses none"
        elif SURROGATE.search(getattr(event, "value", "")):
            message = "has half a surrogate pair, which is no character"
        else:
            continue
        line, column = _place(event.start_mark)
        raise PolicyError(source, (Mistake(line, column, "", message),))


def _place(mark: Mark | None) -> tuple[int, int]:
    """Line and column, from 1; the document's beginning where the parser says nothing."""
    return (mark.line + 1, mark.column + 1) if mark else (1, 1)


def _syntax_mistake(error: yaml.MarkedYAMLError, content: str) -> Mistake:
    line, column = _place(error.problem_mark or error.context_mark)
    text = "".join(content.splitlines()[line - 1 : line])
    if "\t" in text[: len(text) - len(text.lstrip())]:
        return Mistake(line, column, "", "is indented with a tab: YAML takes only spaces")
    reason = " ".join(part for part in (error.context, error.problem) if part)
    return Mistake(line, column, "", f"is not YAML: {reason}")


def _value(document: PositionedDocument, node: yaml.Node, path: FieldPath) -> object:
    """A node as a JSON value. Raises PolicyError where aliases grow too deep or too many."""
    document.values_left -= 1
    if document.values_left < 0 or len(path) > MAX_DEPTH:
        message = f"expands to more than {MAX_VALUES} values or {MAX_DEPTH} levels: use no aliases"
        raise PolicyError(document.source, (document.mistake(path[:1], message),))
    if isinstance(node, yaml.MappingNode):
        return {
            key: _value(document, item, (*path, key)) for key, item in _pairs(document, node, path)
        }
    if isinstance(node, yaml.SequenceNode):
        return [_value(document, item, (*path, index)) for index, item in enumerate(node.value)]
    return _scalar(node)


def _pairs(
    document: PositionedDocument, node: yaml.MappingNode, path: FieldPath
) -> Iterator[tuple[str, yaml.Node]]:
    first_lines: dict[str, int] = {}
    for key_node, item in node.value:
        mark = key_node.start_mark
        key = key_node.value if isinstance(key_node, yaml.ScalarNode) else None
        if key is None:
            message = "a key must be a string"
        elif key in first_lines:
            message = f"stands twice, first in line {first_lines[key]}: keep one"
        else:
            first_lines[key] = mark.line + 1
            yield key, item
            continue
        where = field_text(path if key is None else (*path, key))
        document.mistakes.append(Mistake(mark.line + 1, mark.column + 1, where, message))


def _scalar(node: yaml.Node) -> object:
    text: str = node.value
    if isinstance(node, yaml.ScalarNode) and node.style:
        return text
    if NULL.fullmatch(text):
        return None
    if BOOLEAN.fullmatch(text):
        return text.lower() == "true"
    if INTEGER.fullmatch(text):
        return int(text)
    return float(text) if FLOAT.fullmatch(text) else text


def _step(node: yaml.Node, part: str | int) -> tuple[Mark | None, yaml.Node] | None:
    """The mark and the node of a field or a list entry; None when there is none."""
    if isinstance(node, yaml.MappingNode):
        for key_node, item in node.value:
            if key_node.value == part:
                return key_node.start_mark, item
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        return node.value[part].start_mark, node.value[part]
    return None
