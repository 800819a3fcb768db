"""All results of one run, and the counts that close it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from cli.judging import Result


@dataclass(frozen=True, slots=True)
class Report:
    """`skipped` are the kinds of what was not judged at all, one entry per object."""

    results: Sequence[Result]
    skipped: Sequence[str] = field(default=())
    unusable: int = 0
    """Mistakes in the input; what they hide was not judged either."""

    @property
    def denied(self) -> int:
        """Objects that the cluster would refuse."""
        return sum(not result.allowed for result in self.results)

    @property
    def warned(self) -> int:
        """Objects that are allowed with a warning: denied ones are counted there alone."""
        return sum(result.is_warned for result in self.results)

    @property
    def clean(self) -> int:
        """All others that were judged."""
        return len(self.results) - self.denied - self.warned

    @property
    def not_judged(self) -> dict[str, int]:
        """For each rule that lacked an inventory or a version, how many objects it would have judged."""
        return dict(Counter(rule for result in self.results for rule in result.not_judged))
