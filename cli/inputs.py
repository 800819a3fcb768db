"""The flags that validate and mutate share, and what they say: manifests, nodes, policy, version."""

import argparse
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import BinaryIO

from cli.errors import UnusableError
from policies.errors import MalformedError
from policies.manifest_error import ManifestError
from policies.manifest_files import STDIN, read_manifests
from policies.manifests import SourcedObject
from policies.node import Inventory, inventory_of, parse_node
from policies.policy import Policy

VERSION = re.compile(r"v?[0-9]{1,9}\.[0-9]{1,9}(?:[.+-][0-9A-Za-z.+-]{1,100})?")


@dataclass(frozen=True, slots=True)
class Cluster:
    """What is known of the cluster that the manifests are for."""

    policy: Policy
    inventory: Inventory | None
    kubernetes_version: str | None
    namespace: str
    """For objects that name none."""


def add_input_flags(parser: argparse.ArgumentParser) -> None:
    """Add the shared flags."""
    parser.add_argument(
        "-f",
        "--filename",
        metavar="FILE|DIR|-",
        action="extend",
        nargs="+",
        required=True,
        help="manifests, YAML or JSON: files, directories (with all below), or - for standard input",
    )
    parser.add_argument(
        "--nodes",
        metavar="FILE",
        help="Node objects (as `kubectl get nodes -o yaml` prints them) to judge placement against",
    )
    parser.add_argument(
        "--policy", metavar="FILE", help="a HybridPolicy; default: the built-in one"
    )
    parser.add_argument(
        "--kubernetes-version",
        metavar="V",
        help="the control plane's version, such as v1.28.15-vke.19",
    )
    parser.add_argument(
        "-n",
        "--namespace",
        metavar="NS",
        default="default",
        help="the namespace of objects that name none (default: default)",
    )


def cluster_of(options: argparse.Namespace) -> Cluster:
    """The cluster that the flags describe. Raises UnusableError."""
    if [*options.filename, options.nodes].count(STDIN) > 1:
        raise UnusableError("-: standard input can be read once only")
    policy = load_policy(options.policy) if options.policy else Policy()
    version = options.kubernetes_version
    if version is not None and not VERSION.fullmatch(version):
        raise UnusableError(
            f"--kubernetes-version: {version!r} is not a version such as v1.28.15-vke.19"
        )
    return Cluster(
        policy=policy,
        inventory=read_inventory(options.nodes, policy) if options.nodes else None,
        kubernetes_version=version,
        namespace=options.namespace,
    )


def load_policy(path: str) -> Policy:
    """The policy in a file. Raises UnusableError with all its mistakes."""
    loading = import_module("policies.loading")  # pydantic, which nothing else here needs
    try:
        policy: Policy = loading.load_policy(read_text(path), path)
    except loading.PolicyError as error:
        raise UnusableError(*str(error).splitlines()) from error
    return policy


def read_text(path: str) -> str:
    """A file's text. Raises UnusableError."""
    try:
        with open(path, encoding="utf-8-sig") as stream:  # noqa: PTH123 - see manifest_files
            return stream.read()
    except OSError as error:
        raise UnusableError(f"{path}: cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        raise UnusableError(f"{path}: is not UTF-8 text: {error}") from error


def read_inventory(path: str, policy: Policy) -> Inventory:
    """The nodes in a file or directory. Raises UnusableError with every mistake."""
    nodes, others, errors = [], set[str](), []
    for found in read_manifests([path], _stdin(path)):
        if isinstance(found, ManifestError):
            errors.append(str(found))
        elif found.kind == "Node":
            nodes.append(found)
        else:
            others.add(found.kind)
    if others and not nodes:
        errors.append(f"{path}: holds no Node, only {', '.join(sorted(others))}")
    if errors:
        raise UnusableError(*errors)
    try:
        return inventory_of([node.raw for node in nodes], policy)
    except MalformedError:
        raise UnusableError(*_malformed_nodes(nodes, policy)) from None


def _malformed_nodes(nodes: Iterable[SourcedObject], policy: Policy) -> Iterator[str]:
    for node in nodes:
        try:
            parse_node(node.raw, policy)
        except MalformedError as error:
            yield str(node.malformed(error.path, error.message))


def read_objects(paths: Sequence[str]) -> tuple[list[SourcedObject], list[ManifestError]]:
    """The objects in these files, and what could not be read of them."""
    objects: list[SourcedObject] = []
    errors: list[ManifestError] = []
    for found in read_manifests(paths, _stdin(*paths)):
        if isinstance(found, ManifestError):
            errors.append(found)
        else:
            objects.append(found)
    return objects, errors


def _stdin(*paths: str) -> BinaryIO | None:
    return sys.stdin.buffer if STDIN in paths else None
