"""The nodes of a cluster from a file or directory, read again when something in it changes.

A node list can be very large, so its content is not compared: the names, sizes, times and inodes of its
files are. An inventory depends on the policy too, so a new policy reads the file again.
"""

from collections.abc import Iterator
from pathlib import Path

from policies.errors import MalformedError
from policies.manifest.manifest_error import ManifestError
from policies.manifest.manifest_files import read_manifests
from policies.node import Inventory, Node, parse_node, virtual_node
from policies.policy import Policy

Signature = tuple[tuple[str, int, int, int], ...]


class NodesFileError(Exception):
    """The file cannot be used; the text names file, line and field."""


class NodesFile:
    """A file or directory of Node objects and what was last seen of it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: tuple[Signature, Policy] | None = None

    def read_if_changed(self, policy: Policy) -> Inventory | None:
        """The inventory under this policy, None when neither changed since the last call.

        Raises NodesFileError when a file cannot be used, once for each state of it.
        """
        seen = (signature(self._path), policy)
        if seen == self._seen:
            return None
        self._seen = seen
        pools = tuple(virtual_node(pool, policy) for pool in policy.node_pools)
        try:
            return Inventory((*self._nodes(policy), *pools))
        except ManifestError as error:
            raise NodesFileError(str(error)) from error

    def _nodes(self, policy: Policy) -> Iterator[Node]:
        for found in read_manifests([str(self._path)]):
            if isinstance(found, ManifestError):
                raise found
            if found.kind != "Node":
                continue
            try:
                node = parse_node(found.raw, policy)
            except MalformedError as error:
                raise found.malformed(error.path, error.message) from error
            if node is not None:
                yield node


def signature(path: Path) -> Signature:
    """What tells two states of a file or directory apart; empty when it is not there."""
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    return tuple(_signatures(files))


def _signatures(files: list[Path]) -> Iterator[tuple[str, int, int, int]]:
    for file in files:
        try:
            status = file.stat()
        except OSError:
            continue
        yield str(file), status.st_size, status.st_mtime_ns, status.st_ino
