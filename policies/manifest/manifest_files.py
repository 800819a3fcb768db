"""Where manifests are read from: files, directories and standard input.

A mistake in one file is a value here, not an exception: the other files are still read. Written with
os.path: importing pathlib takes longer than judging a pod, and one pod is what most runs are about.
"""

import io
import os
import stat
from collections.abc import Iterator, Sequence
from typing import BinaryIO

from policies.manifest.manifest_error import ManifestError
from policies.manifest.manifests import SourcedObject, objects_in

SUFFIXES = (".yaml", ".yml", ".json")
STDIN = "-"
STDIN_NAME = "<stdin>"
MAX_BYTES = 256 * 1024 * 1024
"""Of one file or of standard input: 20,000 pods as `kubectl get` writes them, several times over."""
CHUNK_BYTES = 1024 * 1024


def read_manifests(
    paths: Sequence[str], stdin: BinaryIO | None = None
) -> Iterator[SourcedObject | ManifestError]:
    """The objects in these files, in order; in place of what cannot be read, its error.

    A path is a file, a directory (every *.yaml, *.yml and *.json below it, sorted, nothing hidden), or
    `-` for `stdin`, None = closed. After an error in a file, the rest of that file is left out. A pipe is
    read where it is named itself; in a directory it would wait for a writer for ever.
    """
    for path in paths:
        if path == STDIN:
            yield from _read_stdin(stdin)
            continue
        for file in _files(path):
            if isinstance(file, ManifestError):
                yield file
            else:
                yield from _read(file)


def _files(path: str) -> Iterator[str | ManifestError]:
    if not os.path.isdir(path):  # noqa: PTH112
        yield path
        return
    found = False
    refused: list[OSError] = []
    for folder, folders, names in os.walk(path, onerror=refused.append):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if name.endswith(SUFFIXES) and not name.startswith("."):
                found = True
                yield _regular(os.path.join(folder, name))  # noqa: PTH118
    for error in refused:
        yield ManifestError(str(error.filename), 0, f"cannot be read: {error.strerror or error}")
    if not found and not refused:
        yield ManifestError(path, 0, "holds no .yaml, .yml or .json file")


def _regular(file: str) -> str | ManifestError:
    try:
        mode = os.stat(file).st_mode  # noqa: PTH116
    except OSError:
        return file  # reading it says why
    if stat.S_ISREG(mode):
        return file
    return ManifestError(file, 0, "is not a regular file: name it itself to have it read")


def read_bounded(stream: BinaryIO, source: str) -> bytes:
    """All of a stream. Raises ManifestError where it fails, and beyond MAX_BYTES: a device may never end."""
    content = io.BytesIO()
    try:
        while chunk := stream.read(CHUNK_BYTES):
            content.write(chunk)
            if content.tell() > MAX_BYTES:
                raise ManifestError(source, 0, f"is larger than {MAX_BYTES >> 20} MiB: split it")
    except OSError as error:
        raise ManifestError(source, 0, f"cannot be read: {error.strerror or error}") from error
    return content.getvalue()


def _read_stdin(stdin: BinaryIO | None) -> Iterator[SourcedObject | ManifestError]:
    if stdin is None:
        yield ManifestError(STDIN_NAME, 0, "cannot be read: it is closed")
    else:
        yield from _until_error(stdin, STDIN_NAME)


def _read(file: str) -> Iterator[SourcedObject | ManifestError]:
    try:
        stream = open(file, "rb")  # noqa: PTH123, SIM115 - closed below
    except OSError as error:
        yield ManifestError(file, 0, f"cannot be read: {error.strerror or error}")
        return
    except ValueError as error:  # a NUL in the name
        yield ManifestError(repr(file), 0, f"cannot be read: {error}")
        return
    with stream:
        yield from _until_error(stream, file)


def _until_error(stream: BinaryIO, source: str) -> Iterator[SourcedObject | ManifestError]:
    try:
        yield from objects_in(read_bounded(stream, source), source)
    except ManifestError as error:
        yield error
