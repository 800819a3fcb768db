"""What is wrong in a policy file: every mistake, each with its line and field, in one exception."""

from dataclasses import dataclass

FieldPath = tuple[str | int, ...]
"""From the document's root: field names and map keys as strings, list indexes as integers."""


@dataclass(frozen=True, slots=True, order=True)
class Mistake:
    """One mistake; line and column count from 1, `field` is "" for the whole document."""

    line: int
    column: int
    field: str
    message: str


class PolicyError(ValueError):
    """A policy file that cannot be used. Its text has one line for each mistake, in file order."""

    def __init__(self, source: str, mistakes: tuple[Mistake, ...]) -> None:
        self.source = source
        self.mistakes = tuple(sorted(set(mistakes)))
        super().__init__("\n".join(_line(source, mistake) for mistake in self.mistakes))


def field_text(path: FieldPath) -> str:
    """A path as Kubernetes writes it: `spec.injection.env[0].name`, `spec.x.labels[a.io/b]`."""
    text = ""
    for part in path:
        if isinstance(part, int) or not part.replace("-", "").replace("_", "").isalnum():
            text += f"[{part}]"
        else:
            text += f".{part}" if text else part
    return text


def _line(source: str, mistake: Mistake) -> str:
    field = f"{mistake.field}: " if mistake.field else ""
    return f"{source}:{mistake.line}: {field}{mistake.message}"
