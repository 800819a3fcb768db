"""What became of one admission request: the answer, and what metrics and log should know of it."""

from dataclasses import dataclass
from enum import StrEnum

from policies.facts import Finding, RuleFailure
from webhook.respond import ALLOWED, Answer


class Verdict(StrEnum):
    """How a request ended, as a metric label."""

    ALLOWED = "allowed"
    DENIED = "denied"
    ERROR = "error"
    """The webhook itself failed; whether the request passed is the answer's to say."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer to one request and its story.

    `skipped` says why it was none of ours, `unpatchable` why no patch could be made, `error` names the
    exception when the webhook itself failed. All are empty otherwise.
    """

    answer: Answer = ALLOWED
    findings: tuple[Finding, ...] = ()
    failures: tuple[RuleFailure, ...] = ()
    skipped: str = ""
    unpatchable: str = ""
    error: str = ""

    @property
    def verdict(self) -> Verdict:
        """How it ended."""
        if self.error:
            return Verdict.ERROR
        return Verdict.ALLOWED if self.answer.allowed else Verdict.DENIED
