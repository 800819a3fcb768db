"""The text of one manifest file: bytes to documents, whichever of YAML and JSON it is.

The content decides, not the file's name, as kubectl does it: what begins like a JSON object is JSON.
Lines of fields are looked up only when a message needs one: parsing stays cheap.
"""

import re
from collections.abc import Iterator
from typing import Protocol

from yaml.nodes import Node

from policies.manifest.field_lines import field_line
from policies.manifest.manifest_error import ManifestError
from policies.manifest.yaml_text import compose, yaml_documents

UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")
BYTE_ORDER_MARK = "\ufeff"
JSON_START = re.compile(r"\s*(?:\[|\{\s*(?:\"|\}|$))")
"""`{"key"`; a brace before a bare word begins YAML in flow style, and so may a stream with `---`."""


class Document(Protocol):
    """A decoded document of either language."""

    @property
    def value(self) -> object:
        """The decoded JSON value."""

    @property
    def line(self) -> int:
        """The line, from 1, where the value begins."""

    def item_lines(self, key: str) -> list[int]:
        """The lines of the entries of the list under `key` of the top object."""


class ManifestText:
    """A file's decoded text. Raises ManifestError when the bytes are not UTF-8."""

    __slots__ = ("_roots", "source", "text")

    def __init__(self, content: bytes, source: str) -> None:
        self.source = source
        self.text = _decode(content, source).removeprefix(BYTE_ORDER_MARK)
        self._roots: dict[int, Node] | None = None

    def documents(self) -> Iterator[Document]:
        """The documents that hold anything. Raises ManifestError at the first mistake."""
        if JSON_START.match(self.text) and "\n---" not in self.text:
            return self._json()
        return yaml_documents(self.text, self.source)

    def field_line(self, document_line: int, path: str) -> int:
        """The line of a field of the document at `document_line`, or of its nearest parent.

        JSON is looked up as YAML; where it is not YAML (tabs, some escapes), the document's line.
        """
        if self._roots is None:
            self._roots = {root.start_mark.line + 1: root for root in compose(self.text)}
        root = self._roots.get(document_line)
        return document_line if root is None else field_line(root, path)

    def _json(self) -> Iterator[Document]:
        from policies.manifest.json_text import (  # noqa: PLC0415 - most manifests are YAML
            DuplicateKeyError,
            json_documents,
        )

        try:
            yield from json_documents(self.text, self.source)
        except DuplicateKeyError as error:
            list(yaml_documents(self.text, self.source))  # finds the same, with its line
            raise ManifestError(self.source, 1, str(error)) from error


def _decode(content: bytes, source: str) -> str:
    if content.startswith(UTF_16_MARKS):
        raise ManifestError(source, 1, "is UTF-16 text: save it as UTF-8")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        found = content[error.start]
        raise ManifestError(source, line, f"is not UTF-8 text (byte 0x{found:02x})") from error
