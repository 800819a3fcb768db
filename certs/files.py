"""Reads and writes single files so that nobody ever sees half of one.

Reading is bounded and takes regular files only: a path that leads to a pipe, a device or a huge
file is an error, not a program that hangs. Writing goes to a temporary file beside the target,
which is flushed to the disk and then renamed over it.
"""

import os
import stat
import tempfile
from pathlib import Path

from certs.errors import CertificateDirectoryError, CertificateFileError

MAX_FILE_BYTES = 1 << 20
"""Far above any chain of certificates, and as much as a Secret can hold."""

_PUT_PEM = "put a PEM file there, or remove it"

TEMPORARY_PREFIX = ".writing-"


def read_file(path: Path) -> bytes | None:
    """The content of a regular file, or None when there is none.

    Raises CertificateFileError for anything else: no permission, not a regular file, over 1 MiB.
    """
    try:
        # Without O_NONBLOCK the open of a named pipe waits for its writer, maybe for ever.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CertificateFileError(
            f"cannot be read ({error.strerror})",
            where=path,
            remedy="make it a file that this user may read",
        ) from error
    try:
        return _read_regular(descriptor, path)
    finally:
        os.close(descriptor)


def _read_regular(descriptor: int, path: Path) -> bytes:
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        raise CertificateFileError("is not a regular file", where=path, remedy=_PUT_PEM)
    with os.fdopen(descriptor, "rb", closefd=False) as file:
        content = file.read(MAX_FILE_BYTES + 1)
    if len(content) > MAX_FILE_BYTES:
        raise CertificateFileError(
            f"is larger than {MAX_FILE_BYTES} bytes", where=path, remedy=_PUT_PEM
        )
    return content


def write_file(path: Path, content: bytes, *, mode: int) -> None:
    """Put `content` at `path` in one step, with exactly `mode`, and make it last.

    The temporary file has mode 0600 from its first moment. Raises CertificateDirectoryError.
    """
    try:
        descriptor, name = tempfile.mkstemp(prefix=TEMPORARY_PREFIX, dir=path.parent)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fchmod(descriptor, mode)
                os.fsync(descriptor)
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        _sync_directory(path.parent)
    except OSError as error:
        raise CertificateDirectoryError(
            f"{path.name} cannot be written ({error.strerror})",
            where=path.parent,
            remedy="make it a directory that this user may write, with free space",
        ) from error


def _sync_directory(directory: Path) -> None:
    """Make the rename itself last through a power cut (see fsync(2))."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
