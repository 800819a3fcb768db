"""What is written into an offline pod: one file per mutation, ordered by hand.

Each mutation is a function of the pod and of one injection that yields changes; only `changes_for` puts
them together. A mutation yields nothing where the pod already is as it should be, so that mutating twice
equals mutating once. It raises MalformedError where the document cannot be patched safely.
"""

from collections.abc import Callable, Iterable, Iterator

from policies.mutations import env, metadata, node_affinity, scheduling, tolerations
from policies.patch import Change
from policies.pod import Pod
from policies.policy import Injection

MUTATIONS: tuple[Callable[[Pod, Injection], Iterable[Change]], ...] = (
    env.changes,
    tolerations.changes,
    node_affinity.changes,
    metadata.changes,
    scheduling.changes,
)


def changes_for(pod: Pod, injection: Injection) -> Iterator[Change]:
    """All that the injection still has to change in an offline pod, in order."""
    for mutation in MUTATIONS:
        yield from mutation(pod, injection)
