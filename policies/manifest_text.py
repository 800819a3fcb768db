"""The text of one manifest file: bytes to documents, whichever of YAML and JSON it is.

The content decides, not the file's name, as kubectl does it: what begins with a brace is tried as
JSON first. Lines of fields are looked up only when a message needs one: parsing stays cheap.
"""

from collections.abc import Iterator

from yaml.nodes import Node

from policies.field_lines import field_line
from policies.json_text import DuplicateKeyError, JsonDocument, json_documents
from policies.manifest_error import ManifestError
from policies.yaml_text import YamlDocument, compose, yaml_documents

UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")
BYTE_ORDER_MARK = "\ufeff"

Document = YamlDocument | JsonDocument


class ManifestText:
    """A file's decoded text. Raises ManifestError when the bytes are not UTF-8."""

    __slots__ = ("_roots", "source", "text")

    def __init__(self, content: bytes, source: str) -> None:
        self.source = source
        self.text = _decode(content, source).removeprefix(BYTE_ORDER_MARK)
        self._roots: dict[int, Node] | None = None

    def documents(self) -> Iterator[Document]:
        """The documents that hold anything. Raises ManifestError at the first mistake."""
        if self.text.lstrip()[:1] in ("{", "["):
            return iter(self._json_or_flow_yaml())
        return yaml_documents(self.text, self.source)

    def field_line(self, document_line: int, path: str) -> int:
        """The line of a field of the document at `document_line`, or of its nearest parent.

        JSON is looked up as YAML; where it is not YAML (tabs, some escapes), the document's line.
        """
        if self._roots is None:
            self._roots = {root.start_mark.line + 1: root for root in compose(self.text)}
        root = self._roots.get(document_line)
        return document_line if root is None else field_line(root, path)

    def _json_or_flow_yaml(self) -> list[JsonDocument] | list[YamlDocument]:
        try:
            return list(json_documents(self.text, self.source))
        except DuplicateKeyError as error:
            list(yaml_documents(self.text, self.source))  # finds the same, with its line
            raise ManifestError(self.source, 1, str(error)) from error
        except ManifestError as error:
            if self.source.endswith(".json"):
                raise
            try:
                return list(yaml_documents(self.text, self.source))
            except ManifestError:
                raise error from None


def _decode(content: bytes, source: str) -> str:
    if content.startswith(UTF_16_MARKS):
        raise ManifestError(source, 1, "is UTF-16 text: save it as UTF-8")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        found = content[error.start]
        raise ManifestError(source, line, f"is not UTF-8 text (byte 0x{found:02x})") from error
