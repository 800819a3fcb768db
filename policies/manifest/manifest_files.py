"""Where manifests are read from: files, directories and standard input.

A mistake in one file is a value here, not an exception: the other files are still read. Written with
os.path: importing pathlib takes longer than judging a pod, and one pod is what most runs are about.
"""

import os
from collections.abc import Iterator, Sequence
from typing import BinaryIO

from policies.manifest.manifest_error import ManifestError
from policies.manifest.manifests import SourcedObject, objects_in

SUFFIXES = (".yaml", ".yml", ".json")
STDIN = "-"
STDIN_NAME = "<stdin>"


def read_manifests(
    paths: Sequence[str], stdin: BinaryIO | None = None
) -> Iterator[SourcedObject | ManifestError]:
    """The objects in these files, in order; in place of what cannot be read, its error.

    A path is a file, a directory (every *.yaml, *.yml and *.json below it, sorted, nothing hidden), or
    `-` for `stdin`. After an error in a file, the rest of that file is left out.
    """
    for path in paths:
        if path == STDIN:
            content = stdin.read() if stdin is not None else b""
            yield from _until_error(content, STDIN_NAME)
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
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if name.endswith(SUFFIXES) and not name.startswith("."):
                found = True
                yield os.path.join(folder, name)  # noqa: PTH118
    if not found:
        yield ManifestError(path, 0, "holds no .yaml, .yml or .json file")


def _read(file: str) -> Iterator[SourcedObject | ManifestError]:
    try:
        with open(file, "rb") as stream:  # noqa: PTH123
            content = stream.read()
    except OSError as error:
        yield ManifestError(file, 0, f"cannot be read: {error.strerror or error}")
        return
    except ValueError as error:  # a NUL in the name
        yield ManifestError(repr(file), 0, f"cannot be read: {error}")
        return
    yield from _until_error(content, file)


def _until_error(content: bytes, file: str) -> Iterator[SourcedObject | ManifestError]:
    try:
        yield from objects_in(content, file)
    except ManifestError as error:
        yield error
