"""Reads a Dockerfile into its stages, as far as ours goes: no heredocs, no parser directives."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

CONTINUED = re.compile(r"\\\n\s*")
ASSIGNMENT = re.compile(r'([\w.-]+)=(?:"([^"]*)"|(\S+))')


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction: its keyword in capitals and the rest of its line, continuations joined."""

    keyword: str
    arguments: str

    @property
    def words(self) -> list[str]:
        """The words, of the JSON (exec) form too."""
        if self.arguments.startswith("["):
            return [str(word) for word in json.loads(self.arguments)]
        return self.arguments.split()

    @property
    def flags(self) -> dict[str, str]:
        """Leading flags such as `--from=build`, without their dashes."""
        flags = [word[2:].partition("=") for word in self.words if word.startswith("--")]
        return {name: value for name, _, value in flags}

    @property
    def sources(self) -> list[str]:
        """What a COPY or ADD copies."""
        return [word for word in self.words if not word.startswith("--")][:-1]

    @property
    def assignments(self) -> dict[str, str]:
        """The `name=value` pairs of an ARG, ENV or LABEL."""
        pairs = ASSIGNMENT.findall(self.arguments)
        return {name: quoted or plain for name, quoted, plain in pairs}


@dataclass(frozen=True, slots=True)
class Stage:
    """One FROM and what follows it."""

    base: str
    name: str
    instructions: tuple[Instruction, ...]

    def all(self, keyword: str) -> list[Instruction]:
        """Every instruction of this keyword, in order."""
        return [instruction for instruction in self.instructions if instruction.keyword == keyword]

    def last(self, keyword: str) -> Instruction:
        """The one that counts where the last one does. Raises LookupError when there is none."""
        return self.all(keyword)[-1]


def read_stages(text: str) -> tuple[Stage, ...]:
    """The stages in order; what stands before the first FROM belongs to none."""
    stages: list[Stage] = []
    for instruction in _instructions(text):
        if instruction.keyword == "FROM":
            base, _, name = (*instruction.words, "", "")[:3]
            stages.append(Stage(base, name, ()))
        elif stages:
            last = stages[-1]
            stages[-1] = Stage(last.base, last.name, (*last.instructions, instruction))
    return tuple(stages)


def _instructions(text: str) -> Iterator[Instruction]:
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    for line in CONTINUED.sub(" ", "\n".join(lines)).splitlines():
        keyword, _, arguments = line.partition(" ")
        yield Instruction(keyword.upper(), arguments.strip())
