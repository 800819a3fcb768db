"""The rule pages, which are part of the installed package, and their rendering for a terminal."""

import re
from collections.abc import Iterator
from importlib.resources import files

from cli.terminal import BOLD, CYAN, DIM, Terminal

HEADING = re.compile(r"(#{1,6}) +(.*)")
ITEM = re.compile(r"( *)([-*]|[0-9]+\.) +(.*)")
EMPHASIS = re.compile(r"\*\*([^*]+)\*\*")
CODE = re.compile(r"`([^`]+)`")
LINK = re.compile(r"\[([^\]]+)\]\(([^)]+)\)")


def rule_page(rule_id: str) -> str:
    """The page of a rule as Markdown, empty when there is none."""
    page = files("policies") / "docs" / f"{rule_id}.md"
    return page.read_text(encoding="utf-8") if page.is_file() else ""


def page_body(page: str) -> str:
    """The page without its title and its source, which every page begins and ends with."""
    _, _, untitled = page.partition("\n\n")
    body, _, _ = untitled.rpartition("\n\nSource: ")
    return body


def render_markdown(text: str, terminal: Terminal) -> Iterator[str]:
    """The lines of a page: headings, lists, code and paragraphs; tables stay as they are."""
    paragraph: list[str] = []
    is_code = False
    for line in text.splitlines():
        if line.startswith("```"):
            yield from _flush(paragraph, terminal)
            is_code = not is_code
        elif is_code:
            yield "    " + terminal.paint(line, DIM)
        elif _begins_block(line):
            yield from _flush(paragraph, terminal)
            yield from _block(line, paragraph, terminal)
        else:
            paragraph.append(line.strip() if paragraph else line.rstrip())
    yield from _flush(paragraph, terminal)


def _begins_block(line: str) -> bool:
    return not line.strip() or line.startswith(("#", "|")) or ITEM.match(line) is not None


def _block(line: str, paragraph: list[str], terminal: Terminal) -> Iterator[str]:
    heading = HEADING.match(line)
    if heading:
        yield terminal.paint(_inline(heading[2], Terminal()), BOLD)
    elif line.startswith("|") or not line.strip():
        yield line
    else:
        paragraph.append(line.rstrip())


def _flush(paragraph: list[str], terminal: Terminal) -> Iterator[str]:
    if not paragraph:
        return
    text = " ".join(paragraph)
    paragraph.clear()
    item = ITEM.match(text)
    indent = " " * (len(item[1]) + len(item[2]) + 1) if item else ""
    first = f"{item[1]}{item[2]} " if item else ""
    words = _inline(item[3] if item else text, Terminal())
    wrapped = terminal.wrap(words, indent, first)
    yield CODE.sub(lambda code: terminal.paint(code[0], CYAN), wrapped)


def _inline(text: str, terminal: Terminal) -> str:
    text = LINK.sub(lambda link: f"{link[1]} ({link[2]})", text)
    return EMPHASIS.sub(lambda strong: terminal.paint(strong[1], BOLD), text)
