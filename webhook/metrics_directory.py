"""The directory in which the workers of one server keep their metrics, when nobody else removes it.

Their parent does so at its end, but not when it is killed. Each worker holds a shared lock on the
directory; of workers without a parent the last one to end is the one that gets it alone. The kernel
lets go of the lock of a worker that is killed.
"""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import parent_process
from pathlib import Path


@contextmanager
def used(directory: Path) -> Iterator[None]:
    """While this worker writes there; at the end an orphan that is the last removes the directory."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        yield
        if _is_orphan() and _is_last(descriptor):
            shutil.rmtree(directory, ignore_errors=True)
    finally:
        os.close(descriptor)


def _is_orphan() -> bool:
    parent = parent_process()
    return parent is not None and not parent.is_alive()


def _is_last(descriptor: int) -> bool:
    """Whether nobody else holds the lock; a failed try gives up our own share (see flock(2))."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
