"""A directory of PEM files as the place where the webhook's certificate lives.

`ca.crt`, `ca.key`, `tls.crt`, `tls.key`: the names of a Kubernetes TLS Secret, so a mounted Secret
and this directory are read alike. Looking and changing happen under one lock, so processes that
start at once on the same directory end with the same pair. Keys are written before their
certificates: a process that dies in between leaves a pair that does not match, and the next start
repairs it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import assert_never

from certs.authority import IssuedPair, issue_ca, issue_leaf
from certs.errors import CertificateDirectoryError
from certs.files import TEMPORARY_PREFIX, read_file, write_file
from certs.inspection import inspect
from certs.lock import locked
from certs.names import ServingNames
from certs.plan import CA_FILES, LEAF_FILES, Due, FoundPair, Missing, Plan, plan

_FILES = CA_FILES + LEAF_FILES
_KEY_MODE = 0o600
_CERTIFICATE_MODE = 0o644

_Contents = Mapping[str, bytes | None]


@dataclass(frozen=True, slots=True)
class ServingFiles:
    """The files to serve with and to trust, and what was done to have them, and why."""

    certificate: Path
    key: Path
    ca: Path
    done: Due
    reason: str
    kept_aside: tuple[Path, ...]


def ensure_serving_certificate(directory: Path, names: ServingNames, now: datetime) -> ServingFiles:
    """Make sure that `directory` holds a serving certificate for `names` that is good at `now`.

    What is there is kept while it is good; else a leaf, or a CA and a leaf, is issued. A replaced
    CA, and a leaf replaced for another reason than age or names, stay as `<name>.rejected-<n>`. Key
    files that others may read get mode 0600. `now` has a time zone. Raises CertificateError.
    """
    _make_directory(directory)
    with locked(directory):
        try:
            due, kept_aside = _bring_up_to_date(directory, names, now)
        except OSError as error:
            raise CertificateDirectoryError(
                f"cannot be changed ({error})",
                where=directory,
                remedy="make it a directory whose files belong to this user",
            ) from error
    return ServingFiles(
        certificate=directory / "tls.crt",
        key=directory / "tls.key",
        ca=directory / "ca.crt",
        done=due.due,
        reason=due.reason,
        kept_aside=kept_aside,
    )


def _bring_up_to_date(
    directory: Path, names: ServingNames, now: datetime
) -> tuple[Plan, tuple[Path, ...]]:
    """Everything new is issued before the first file is touched, so a refusal changes nothing."""
    _remove_leftovers(directory)
    found = {name: read_file(directory / name) for name in _FILES}
    due = _plan(found, names, now)
    issued = _issue(found, due.due, names, now)
    kept_aside = _keep_aside(directory, due.keep_aside)
    for (certificate, key), pair in issued:
        write_file(directory / key, pair.key, mode=_KEY_MODE)
        write_file(directory / certificate, pair.certificate, mode=_CERTIFICATE_MODE)
    _close_keys(directory)
    return due, kept_aside


def _plan(found: _Contents, names: ServingNames, now: datetime) -> Plan:
    ca = _inspect(found["ca.crt"], found["ca.key"], None, now)
    leaf = _inspect(found["tls.crt"], found["tls.key"], found["ca.crt"] or b"", now)
    return plan(ca, leaf, names, now)


def _inspect(
    certificate: bytes | None, key: bytes | None, ca: bytes | None, now: datetime
) -> FoundPair:
    if certificate is None:
        return Missing.MISSING
    return inspect(certificate, now, key=key, ca=ca)


def _issue(
    found: _Contents, due: Due, names: ServingNames, now: datetime
) -> tuple[tuple[tuple[str, str], IssuedPair], ...]:
    """The pairs to write, each with the names of its files, the CA before the leaf."""
    match due:
        case Due.NOTHING:
            return ()
        case Due.LEAF:
            ca = IssuedPair(found["ca.crt"] or b"", found["ca.key"] or b"")
            return ((LEAF_FILES, issue_leaf(ca, names, now)),)
        case Due.CA_AND_LEAF:
            ca = issue_ca(now)
            return ((CA_FILES, ca), (LEAF_FILES, issue_leaf(ca, names, now)))
        case _:
            assert_never(due)


def _make_directory(directory: Path) -> None:
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise CertificateDirectoryError(
            f"cannot be made ({error.strerror})",
            where=directory,
            remedy="name a directory, or a path where one can be made",
        ) from error


def _remove_leftovers(directory: Path) -> None:
    """Delete what a process that died while writing left; under the lock nobody else writes."""
    for leftover in directory.glob(f"{TEMPORARY_PREFIX}*"):
        leftover.unlink(missing_ok=True)


def _keep_aside(directory: Path, names: tuple[str, ...]) -> tuple[Path, ...]:
    """Rename the files among `names` that exist, all with the first number that is free."""
    present = [directory / name for name in names if (directory / name).exists()]
    number = next(n for n in count(1) if not any(_aside(path, n).exists() for path in present))
    kept = tuple(path.rename(_aside(path, number)) for path in present)
    for path in kept:
        _close_to_others(path)
    return kept


def _aside(path: Path, number: int) -> Path:
    return path.with_name(f"{path.name}.rejected-{number}")


def _close_keys(directory: Path) -> None:
    """Take from others the right to read a key that somebody copied in with a wider mode."""
    for path in (directory / "ca.key", directory / "tls.key"):
        if path.exists():
            _close_to_others(path)


def _close_to_others(path: Path) -> None:
    """Mode 0600, but for a symbolic link: what it leads to is somebody else's file."""
    if not path.is_symlink() and path.stat().st_mode & 0o077:
        path.chmod(_KEY_MODE)
