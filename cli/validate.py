"""`mgpu-hybrid validate`: judge manifests as the cluster would."""

import argparse
import sys
from collections.abc import Iterable, Mapping
from importlib import import_module

from cli.claims import named_claims
from cli.inputs import Cluster, add_input_flags, cluster_of, read_objects
from cli.judging import Result, judge
from cli.node_changes import is_node_change, judge_node_change
from cli.output import show, tell
from cli.report import Report
from cli.terminal import printable, terminal_of
from policies.errors import MalformedError
from policies.manifest.device_classes import device_classes_of, is_claim
from policies.manifest.manifest_error import ManifestError
from policies.manifest.manifests import SourcedObject
from policies.pod import DeviceClasses

EXIT_CLEAN, EXIT_DENIED, EXIT_UNUSABLE = 0, 1, 2

EPILOG = """\
Pods are judged after mutation, as in the cluster; pod templates as they are; other kinds are
skipped and counted. An AdmissionReview is judged by its operation, old object and user; one of a Node's
update against the pods of that node in the same input.
Results name FILE:LINE, where LINE is where the object begins. ResourceClaims and
ResourceClaimTemplates in the same input, or with --live in the cluster, tell GPU claims from others.

examples:
  mgpu-hybrid validate -f pod.yaml
  mgpu-hybrid validate -f deploy/ --nodes nodes.yaml --kubernetes-version v1.28.15-vke.19
  mgpu-hybrid validate -f deploy/ --live --context production
  helm template . | mgpu-hybrid validate -f - -o json
  kubectl get pods -A -o yaml | mgpu-hybrid validate -f - --policy policy.yaml

exit codes: 0 clean (warnings allowed), 1 something is denied, 2 input, output or a cluster
that cannot be used, 130 interrupted (ctrl-C)
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    parser.description = "Judge manifests as the cluster would, and say how to mend them."
    parser.epilog = EPILOG
    add_input_flags(parser)
    parser.add_argument(
        "-o", "--output", choices=("text", "json"), default="text", help="default: text"
    )


def run(options: argparse.Namespace) -> int:
    """Judge all input. Raises UnusableError for flags, not for manifests: those are listed."""
    cluster = cluster_of(options)
    objects, errors = read_objects(options.filename)
    report = _report(objects, errors, cluster)
    for error in errors:
        tell(printable(str(error)))
    for line in _lines(report, options.output):
        show(line)
    if errors:
        return EXIT_UNUSABLE
    return EXIT_DENIED if report.denied else EXIT_CLEAN


def _lines(report: Report, output: str) -> Iterable[str]:
    """The report in its form. A renderer is imported only when it is wanted."""
    if output == "json":
        json_report = import_module("cli.json_report")
        return (json_report.render_json(report),)
    text_report = import_module("cli.text_report")
    return list(text_report.render_text(report, terminal_of(sys.stdout)))


def _report(
    objects: Iterable[SourcedObject], errors: list[ManifestError], cluster: Cluster
) -> Report:
    """Judges the objects; adds to `errors` those whose fields Kubernetes could not read."""
    objects = tuple(objects)
    in_files = _device_classes(objects, errors)
    in_cluster = _looked_up(objects, cluster, in_files)
    results: list[Result] = []
    skipped: list[str] = []
    for found in objects:
        device_classes: DeviceClasses = in_files
        if in_cluster:
            namespace = found.namespace or cluster.namespace
            device_classes = {**in_cluster.get(namespace, {}), **in_files}
        try:
            if is_node_change(found):
                result: Result | None = judge_node_change(found, cluster, objects)
            else:
                result = judge(found, cluster, device_classes)
        except ManifestError as error:
            errors.append(error)
            continue
        if result is None:
            skipped.append(found.kind)
        else:
            results.append(result)
    return Report(results, skipped, len(errors))


def _looked_up(
    objects: Iterable[SourcedObject], cluster: Cluster, in_files: DeviceClasses
) -> Mapping[str, DeviceClasses]:
    """What a live cluster says of the claims that the input names and does not hold."""
    if cluster.look_up is None:
        return {}
    claims = named_claims(objects, cluster)
    return cluster.look_up(claim for claim in claims if claim.key not in in_files)


def _device_classes(
    objects: Iterable[SourcedObject], errors: list[ManifestError]
) -> dict[str, tuple[str, ...]]:
    known: dict[str, tuple[str, ...]] = {}
    for found in objects:
        if not is_claim(found.raw):
            continue
        try:
            name, classes = device_classes_of(found.raw)
        except MalformedError as error:
            errors.append(found.malformed(error.path, error.message))
        else:
            known[name] = classes
    return known
