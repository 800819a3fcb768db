"""What is due in a certificate directory: a table from what was found to what to issue.

A leaf alone is issued wherever the CA can still sign, because a new CA means that every client's
copy of it (the webhook registration's caBundle) is out of date.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum

from certs.inspection import Inspection, KeyState, Unreadable
from certs.names import ServingNames

LEAF_RENEWAL_WINDOW = timedelta(days=90)
"""A leaf with less than this left is replaced: three months to notice a renewal that fails."""

CA_RENEWAL_WINDOW = timedelta(days=395)
"""More than a leaf's whole life, so that no leaf is cut short by the end of its CA."""


class Missing(Enum):
    """No certificate file at all."""

    MISSING = "missing"


class Due(Enum):
    """What is to be issued now."""

    NOTHING = "nothing"
    LEAF = "leaf"
    CA_AND_LEAF = "CA and leaf"


FoundPair = Missing | Unreadable | Inspection


CA_FILES = ("ca.crt", "ca.key")
LEAF_FILES = ("tls.crt", "tls.key")


@dataclass(frozen=True, slots=True)
class Plan:
    """What is due, the reason in words (it names the file at fault), and the files to keep aside.

    A replaced CA is always kept aside, a leaf when it is replaced for another reason than its age
    or its names: they may be somebody's own, put there by mistake.
    """

    due: Due
    reason: str
    keep_aside: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Fault:
    """Why a leaf is replaced; `routine` when only time or a change of names is the cause."""

    reason: str
    routine: bool


def plan(ca: FoundPair, leaf: FoundPair, wanted: ServingNames, now: datetime) -> Plan:
    """What is due, given the inspected pairs: `ca` with its key, `leaf` with its key and the CA.

    A CA whose key is absent is good while its leaf is (its key may be kept elsewhere); it cannot
    sign the next one, so a new CA is due then.
    """
    ca_fault, leaf_fault = _ca_fault(ca, now), _leaf_fault(leaf, wanted, now)
    if ca_fault:
        return Plan(Due.CA_AND_LEAF, ca_fault, CA_FILES + _kept(leaf_fault))
    if leaf_fault is None:
        return Plan(Due.NOTHING, "the serving certificate is good")
    aside = _kept(leaf_fault)
    if isinstance(ca, Inspection) and ca.key is KeyState.ABSENT:
        reason = f"tls.crt: {leaf_fault.reason}, and ca.key is missing, so the CA cannot sign"
        return Plan(Due.CA_AND_LEAF, reason, CA_FILES + aside)
    return Plan(Due.LEAF, f"tls.crt: {leaf_fault.reason}", aside)


def _kept(leaf_fault: _Fault | None) -> tuple[str, ...]:
    return LEAF_FILES if leaf_fault and not leaf_fault.routine else ()


def _ca_fault(ca: FoundPair, now: datetime) -> str | None:
    """Why the CA is replaced, beginning with the name of the file at fault."""
    if not isinstance(ca, Inspection):
        return f"ca.crt: {_absent(ca)}"
    if not ca.is_ca:
        return "ca.crt: it is not a certificate authority"
    if ca.key not in {KeyState.MATCHES, KeyState.ABSENT}:
        return f"ca.key: {ca.key.value}"
    age_fault = _age_fault(ca, CA_RENEWAL_WINDOW, now)
    return f"ca.crt: {age_fault}" if age_fault else None


def _leaf_fault(leaf: FoundPair, wanted: ServingNames, now: datetime) -> _Fault | None:
    if not isinstance(leaf, Inspection):
        return _Fault(_absent(leaf), routine=False)
    if leaf.key is not KeyState.MATCHES:
        return _Fault(leaf.key.value, routine=False)
    if not leaf.signed_by_ca:
        return _Fault("it is not signed by the CA in ca.crt", routine=False)
    if not leaf.server_auth:
        return _Fault("it is not for servers (extendedKeyUsage)", routine=False)
    missing = wanted.missing_from(leaf.names)
    if missing:
        return _Fault(f"it lacks the names {', '.join(missing)}", routine=True)
    age_fault = _age_fault(leaf, LEAF_RENEWAL_WINDOW, now)
    return _Fault(age_fault, routine=True) if age_fault else None


def _absent(pair: Missing | Unreadable) -> str:
    return pair.reason if isinstance(pair, Unreadable) else pair.value


def _age_fault(found: Inspection, window: timedelta, now: datetime) -> str | None:
    if now < found.not_before:
        return f"it is not valid before {found.not_before.isoformat()}"
    if now > found.not_after:
        return f"it expired at {found.not_after.isoformat()}"
    if now > found.not_after - window:
        return f"it expires at {found.not_after.isoformat()}, within {window.days} days"
    return None
