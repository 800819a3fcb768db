"""The flags that validate and mutate share, and what they say: manifests, nodes, policy, version."""

import argparse
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import BinaryIO

from cli.claim import Claim
from cli.errors import UnusableError
from policies.errors import MalformedError
from policies.manifest.manifest_error import ManifestError
from policies.manifest.manifest_files import STDIN, read_bounded, read_manifests
from policies.manifest.manifests import SourcedObject
from policies.node import Inventory, inventory_of, parse_node
from policies.pod import DeviceClasses
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
    look_up: Callable[[Iterable[Claim]], Mapping[str, DeviceClasses]] | None = None
    """Asks a live cluster for the device classes of claims, by namespace. Raises UnusableError."""


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
    nodes = parser.add_mutually_exclusive_group()
    nodes.add_argument(
        "--nodes",
        metavar="FILE",
        help="Node objects (as `kubectl get nodes -o yaml` prints them) to judge placement against",
    )
    nodes.add_argument(
        "--live",
        action="store_true",
        help="take nodes and version from the cluster, found as kubectl finds it",
    )
    parser.add_argument(
        "--kubeconfig",
        metavar="FILE",
        help="with --live; default: $KUBECONFIG, then ~/.kube/config, then the cluster around this pod",
    )
    parser.add_argument(
        "--context",
        metavar="NAME",
        help="with --live: the kubeconfig's context, if not the current",
    )
    parser.add_argument(
        "--policy", metavar="FILE", help="a HybridPolicy; default: the built-in one"
    )
    parser.add_argument(
        "--kubernetes-version",
        metavar="V",
        help="the control plane's version, such as v1.28.15-vke.19; default with --live: what it says",
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
    if options.live:
        return _live_cluster(options, policy)
    for flag in ("kubeconfig", "context"):
        if getattr(options, flag) is not None:
            raise UnusableError(f"--{flag}: says which cluster to ask, which only --live does")
    return Cluster(
        policy=policy,
        inventory=read_inventory(options.nodes, policy) if options.nodes else None,
        kubernetes_version=version,
        namespace=options.namespace,
    )


def _live_cluster(options: argparse.Namespace, policy: Policy) -> Cluster:
    live = import_module("cli.live").connect(options.kubeconfig, options.context)
    return Cluster(
        policy=policy,
        kubernetes_version=options.kubernetes_version or live.server_version(),
        inventory=live.inventory(policy),
        namespace=options.namespace,
        look_up=live.device_classes,
    )


def load_policy(path: str) -> Policy:
    """The policy in a file. Raises UnusableError with all its mistakes."""
    loading = import_module("policies.document.loading")  # pydantic, which nothing else here needs
    try:
        policy: Policy = loading.load_policy(read_text(path), path)
    except loading.PolicyError as error:
        raise UnusableError(*str(error).splitlines()) from error
    return policy


def read_text(path: str) -> str:
    """A file's text. Raises UnusableError."""
    try:
        with open(path, "rb") as stream:  # noqa: PTH123 - see manifest_files
            return read_bounded(stream, path).decode("utf-8-sig")
    except ManifestError as error:
        raise UnusableError(str(error)) from error
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
    """Standard input where a path means it; None also where it is closed."""
    return sys.stdin.buffer if STDIN in paths and sys.stdin is not None else None
