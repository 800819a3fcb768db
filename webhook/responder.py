"""From a complete body to a complete answer: the outermost handler of an admission request.

Everything between the two reads one snapshot. For pods and templates nothing waits on the way; a switch of a
node waits, without holding up others, until the API server has said which pods are there. An exception is
our own fault: it is logged and counted once, and the answer still carries the request's uid.
"""

import logging
import time
from dataclasses import dataclass
from http import HTTPStatus

from webhook.hooks import Hook
from webhook.metrics import Metrics
from webhook.outcome import Outcome
from webhook.pod_lookup import NOT_ASKED, FoundPods, PodLookup, PodQuery
from webhook.respond import render
from webhook.review import RequestError, Review, ReviewError, parse_review
from webhook.state import Snapshot, State

logger = logging.getLogger(__name__)

JSON = b"application/json"
TEXT = b"text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Reply:
    """An HTTP answer; plain text is one line for the sender."""

    status: int
    content_type: bytes
    body: bytes


class Responder:
    """Answers the requests of one hook with what `state` holds at the time."""

    def __init__(self, hook: Hook, state: State, metrics: Metrics, lookup: PodLookup) -> None:
        self._hook = hook
        self._lookup = lookup
        self._state = state
        self._metrics = metrics
        self._observe_seconds = metrics.duration_of(hook)

    async def reply(self, body: bytes) -> Reply:
        """The answer to one request body. Raises nothing."""
        started = time.perf_counter()
        snapshot = self._state.current
        if snapshot is None:
            return self._refuse("no-policy", HTTPStatus.SERVICE_UNAVAILABLE, "no valid policy yet")
        try:
            review = parse_review(body)
        except ReviewError as error:
            return self._refuse("review", HTTPStatus.BAD_REQUEST, str(error))
        except RequestError as error:
            outcome = self._hook.on_malformed(str(error))
            self._record(error.uid, None, outcome)
            return Reply(HTTPStatus.OK, JSON, render(error.uid, outcome.answer))
        outcome, answer = await self._answer(review, snapshot, body)
        self._record(review.uid, review, outcome)
        self._observe_seconds(time.perf_counter() - started)
        return Reply(HTTPStatus.OK, JSON, answer)

    async def _answer(
        self, review: Review, snapshot: Snapshot, body: bytes
    ) -> tuple[Outcome, bytes]:
        try:
            query = self._hook.query(review, snapshot)
            found = NOT_ASKED if query is None else await self._find(query, review)
            outcome = self._hook.judge(review, snapshot, found)
            return outcome, render(review.uid, outcome.answer)
        except Exception as error:  # outermost handler: the API server must get its uid back
            logger.exception(
                "%s failed on a request", self._hook.name, extra={"fields": _who(review)}
            )
            outcome = self._hook.on_error(review, snapshot.policy, body, error)
            return outcome, render(review.uid, outcome.answer)

    async def _find(self, query: PodQuery, review: Review) -> FoundPods:
        found = await self._lookup.find(query)
        is_known = found.pods is not None
        self._metrics.pod_lookups.increment(query.about, "found" if is_known else "unknown")
        if not is_known:
            fields = {**_who(review), "because": found.unknown_because}
            logger.warning("pods are not known", extra={"fields": fields})
        return found

    def _refuse(self, reason: str, status: HTTPStatus, line: str) -> Reply:
        self._metrics.bad_requests.increment(reason)
        return Reply(status, TEXT, f"{line}\n".encode())

    def _record(self, uid: str, review: Review | None, outcome: Outcome) -> None:
        self._metrics.count(self._hook, review, outcome)
        who = _who(review) if review is not None else {"uid": uid}
        if not outcome.answer.allowed:
            logger.info("denied", extra={"fields": {**who, **_why(outcome)}})
        if outcome.unpatchable:
            fields = {**who, "because": outcome.unpatchable}
            logger.warning("no safe patch", extra={"fields": fields})
        for failure in outcome.failures:
            fields = {**who, "rule": failure.rule, "error": failure.error}
            logger.error("rule failed", extra={"fields": fields})


def _who(review: Review) -> dict[str, object]:
    return {
        "uid": review.uid,
        "user": review.username,
        "namespace": review.namespace,
        "name": review.name,
        "kind": review.kind.kind,
        "operation": review.operation,
        "dry_run": review.is_dry_run,
    }


def _why(outcome: Outcome) -> dict[str, object]:
    rules = list(dict.fromkeys(finding.rule for finding in outcome.findings))
    return {"rules": rules} if rules else {"because": outcome.answer.message}
