"""What an API server sends, in the wire's form, and answers that a test scripts in its place."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from tests.builders import Object


@dataclass(frozen=True, slots=True)
class Scripted:
    """An answer as it goes over the wire, and how it ends: in good order, cut off, or never."""

    status: int = 200
    pieces: Sequence[bytes] = ()
    end: Literal["good", "cut", "silence"] = "good"
    headers: Mapping[str, str] = field(default_factory=dict)


def status_object(code: int, reason: str, message: str) -> Object:
    """A Status, as the API server answers a request that it refuses."""
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "code": code,
        "reason": reason,
        "message": message,
    }


def refused(code: int, reason: str, message: str = "because", **headers: str) -> Scripted:
    """A request that is refused."""
    body = json.dumps(status_object(code, reason, message)).encode()
    return Scripted(code, [body], headers=headers)


def event(kind: str, raw: Mapping[str, object]) -> bytes:
    """One line of a watch."""
    return json.dumps({"type": kind, "object": raw}).encode() + b"\n"


GONE_EVENT = event("ERROR", status_object(410, "Expired", "too old resource version: 1 (9)"))
