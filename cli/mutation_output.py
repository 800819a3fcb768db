"""The forms in which `mutate` shows what it does: whole objects, patches, or a diff."""

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import orjson

from cli.terminal import BOLD, CYAN, GREEN, RED, YELLOW, Terminal, printable
from cli.yaml_output import yaml_of, yaml_stream
from policies.manifest.manifests import SourcedObject
from policies.patch import Change, Mutation, escape
from policies.raw import JsonObject


@dataclass(frozen=True, slots=True)
class Mutated:
    """An object of the input, what changes in it, and the object after that."""

    found: SourcedObject
    namespace: str
    mutation: Mutation
    after: JsonObject

    @property
    def title(self) -> str:
        """`Pod jobs/batch`."""
        return f"{self.found.kind} {self.namespace}/{self.found.name}"


def as_yaml(objects: Sequence[Mutated]) -> str:
    """All objects as one YAML stream."""
    return yaml_stream(entry.after for entry in objects)


def as_json(objects: Sequence[Mutated]) -> str:
    """The object, or a List of them."""
    items = [entry.after for entry in objects]
    if len(items) == 1:
        return _json(items[0])
    return _json({"apiVersion": "v1", "kind": "List", "items": items})


def as_patches(objects: Sequence[Mutated]) -> str:
    """One JSON array of RFC 6902 operations per object, [] where nothing changes."""
    return "".join(_json(entry.mutation.patch) for entry in objects)


def as_diff(objects: Sequence[Mutated], terminal: Terminal) -> Iterator[str]:
    """For each object that changes: the reasons, then a unified diff of its YAML."""
    for entry in objects:
        if not entry.mutation.changes:
            continue
        before = printable_lines(yaml_of(entry.found.raw))
        after = printable_lines(yaml_of(entry.after))
        source = printable(entry.found.source)
        yield terminal.paint(f"# {printable(entry.title)}", BOLD)
        for change in entry.mutation.changes:
            yield terminal.paint(terminal.wrap(printable(change_text(change)), "#   ", "# "), CYAN)
        names = (f"{source} as written", f"{source} as admitted")
        for line in difflib.unified_diff(before, after, *names, lineterm=""):
            yield _coloured(line, terminal)


def change_text(change: Change) -> str:
    """`add /spec/tolerations/-: reason`, with the warning when a user's own value goes."""
    pointer = "".join("/" + escape(token) for token in change.path)
    text = f"{change.op} {pointer}: {change.reason}"
    return f"{text} (warning: {change.warning})" if change.warning else text


def printable_lines(text: str) -> list[str]:
    """Lines that are safe to show; YAML itself has escaped most of what is not."""
    return [printable(line) for line in text.splitlines()]


def _coloured(line: str, terminal: Terminal) -> str:
    if line.startswith(("+++", "---")):
        return terminal.paint(line, BOLD)
    colour = {"+": GREEN, "-": RED, "@": YELLOW}.get(line[:1])
    return terminal.paint(line, colour) if colour else line


def _json(value: object) -> str:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode() + "\n"
