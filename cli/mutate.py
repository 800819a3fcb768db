"""`mgpu-hybrid mutate`: show what the webhook writes into offline pods, and why."""

import argparse
import sys

from cli.inputs import Cluster, add_input_flags, cluster_of, read_objects
from cli.judging import is_mutated
from cli.mutation_output import Mutated, as_diff, as_json, as_patches, as_yaml, change_text
from cli.output import show, tell
from cli.terminal import printable, terminal_of
from policies.apply import applied
from policies.engine import mutate
from policies.errors import MalformedError
from policies.manifest.manifest_error import ManifestError
from policies.manifest.manifests import SourcedObject
from policies.patch import Mutation
from policies.pod import parse_pod

EXIT_CLEAN, EXIT_UNUSABLE = 0, 2
MAX_EXPLAINED = 20
"""Objects whose changes are told beside the output; a diff tells those of all."""

EPILOG = """\
Only offline pods that are created are changed; everything else passes through as it is. The reason
for each change goes to standard error, for the first 20 objects; -o diff has them all. A mutation
depends on the policy alone: --nodes, --live and --kubernetes-version are checked, so that the flags
of validate serve here too.

examples:
  mgpu-hybrid mutate -f pod.yaml
  mgpu-hybrid mutate -f pod.yaml -o diff
  mgpu-hybrid mutate -f deploy/ -o yaml | kubectl apply -f -
  mgpu-hybrid mutate -f pod.json -o patch

exit codes: 0 done, 2 input or output that cannot be used, 130 interrupted (ctrl-C)
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    parser.description = "Show what the mutating webhook writes into offline pods."
    parser.epilog = EPILOG
    add_input_flags(parser)
    parser.add_argument(
        "-o",
        "--output",
        choices=("yaml", "json", "patch", "diff"),
        default="yaml",
        help="whole objects (yaml, json), one JSON patch per object, or a diff (default: yaml)",
    )


def run(options: argparse.Namespace) -> int:
    """Mutate all input. Raises UnusableError for flags, not for manifests: those are listed."""
    cluster = cluster_of(options)
    objects, errors = read_objects(options.filename)
    results: list[Mutated] = []
    for found in objects:
        try:
            results.append(_mutated(found, cluster))
        except ManifestError as error:
            errors.append(error)
    for mistake in errors:
        tell(printable(str(mistake)))
    if options.output != "diff":  # which says the reasons itself
        _explain(results)
    _show(results, options.output)
    return EXIT_UNUSABLE if errors else EXIT_CLEAN


def _mutated(found: SourcedObject, cluster: Cluster) -> Mutated:
    namespace = found.namespace or cluster.namespace
    mutation = Mutation()
    if is_mutated(found):
        try:
            pod = parse_pod(found.raw, cluster.policy, namespace=namespace)
            mutation = mutate(pod, cluster.policy)
        except MalformedError as error:
            raise found.malformed(error.path, error.message) from error
    return Mutated(found, namespace, mutation, applied(found.raw, mutation))


def _explain(results: list[Mutated]) -> None:
    """Reasons go to standard error, so that standard output stays pure."""
    changed = [entry for entry in results if entry.mutation.changes]
    for entry in changed[:MAX_EXPLAINED]:
        for change in entry.mutation.changes:
            tell(printable(f"{entry.found.source}: {entry.title}: {change_text(change)}"))
    more = len(changed) - MAX_EXPLAINED
    if more > 0:
        objects = "object is" if more == 1 else "objects are"
        tell(f"… and {more} more {objects} changed; -o diff tells every change")


def _show(results: list[Mutated], output: str) -> None:
    if output == "diff":
        for line in as_diff(results, terminal_of(sys.stdout)):
            show(line)
    elif results:
        render = {"yaml": as_yaml, "json": as_json, "patch": as_patches}[output]
        show(render(results), end="")
