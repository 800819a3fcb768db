"""Lets one process at a time look into a certificate directory and change it.

The lock is flock on a file of its own: the kernel drops it when its holder dies, so there is no
stale lock to clear, and the file is never removed (a removed one could be locked twice).
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from certs.errors import CertificateDirectoryError

LOCK_FILE = ".lock"

LOCK_ATTEMPTS = 300
"""With the pause below, half a minute: issuing takes milliseconds, so this is a stuck holder."""

_PAUSE_SECONDS = 0.1


@contextmanager
def locked(directory: Path, *, attempts: int = LOCK_ATTEMPTS) -> Iterator[None]:
    """Hold the directory's lock; raises CertificateDirectoryError when it cannot be had."""
    try:
        descriptor = os.open(directory / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise CertificateDirectoryError(
            f"{LOCK_FILE} cannot be opened ({error.strerror})",
            where=directory,
            remedy="make it a directory that this user may write",
        ) from error
    try:
        _acquire(descriptor, directory, attempts)
        yield
    finally:
        os.close(descriptor)


def _acquire(descriptor: int, directory: Path, attempts: int) -> None:
    for _ in range(attempts):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(_PAUSE_SECONDS)
        else:
            return
    raise CertificateDirectoryError(
        "another process holds the lock and does not let go",
        where=directory / LOCK_FILE,
        remedy="find the process that has this file open, end it, and start again",
    )
