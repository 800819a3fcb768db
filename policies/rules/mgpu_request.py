"""An online pod asks mGPU in a combination that can be scheduled.

The table is the public scheduler code's, with every container checked to the end: a share of a card
(1 to 99 percent) needs at least 256 MiB; full cards (multiples of 100) take no memory key; in multi-card
mode each container's share per card needs at least 1024 MiB and must divide evenly.
Fields: mgpu-core (percent of a card) and mgpu-memory (MiB) of every container and init container, and the
annotation container-multiple-gpu. Limits equal requests, whole numbers.
"""

from collections.abc import Iterator

from policies.card_counts import CardCountError, parse_card_counts
from policies.container import Ask, Container
from policies.facts import Facts, Rule, Violation
from policies.pod import Pod, PodClass
from policies.raw import short_text

LEAST_MEMORY_MIB = 256
LEAST_MEMORY_PER_CARD_MIB = 1024
CARD = 100


def check(facts: Facts) -> Iterator[Violation]:
    """One violation per container: the first row of the table that it breaks."""
    pod, key = facts.pod, facts.policy.keys.container_multiple_gpu
    counts: dict[int, int] = {}
    text = pod.annotations.get(key)
    if text is not None:
        fault, counts = _counts(text, pod)
        if fault:
            message = f'annotation {key} is "{short_text(text)}": {fault}'
            yield Violation(path=pod.annotation_path(key), message=message)
    for container in pod.containers:
        fault = _amount_fault(container)
        if not fault and (container.is_init or text is None):
            fault = _share_fault(container)
        elif not fault and counts:  # a list that is itself wrong judges no container
            fault = _cards_fault(container, counts[container.index])
        if fault:
            yield Violation(
                path=f"{container.path}.resources", message=f"container {container.name} {fault}"
            )


def _counts(text: str, pod: Pod) -> tuple[str, dict[int, int]]:
    """What is wrong with the list, and the count of each container by its index."""
    try:
        counts = parse_card_counts(text)
    except CardCountError as error:
        return str(error), {}
    containers = len(pod.main_containers)
    if len(counts) != containers:
        return f"{len(counts)} counts for {containers} containers", {}
    return "", dict(enumerate(counts))


def _amount_fault(container: Container) -> str:
    for ask in (container.core, container.memory):
        if ask is not None and ask.problem:
            return f"asks {ask.resource}: {ask.text}, which {ask.problem}"
    return ""


def _share_fault(container: Container) -> str:
    """The table for a container without a card count."""
    core, memory = container.core, container.memory
    if core is None and memory is None:
        return ""
    if core is None or core.value <= 0:
        return f"asks {_shown(memory)} without mgpu-core above 0"
    memory_mib = memory.value if memory else 0
    if memory_mib < 0:
        return f"asks {_shown(memory)}, less than nothing"
    if core.value < CARD and memory_mib < LEAST_MEMORY_MIB:
        return (
            f"asks {_shown(core)} with {memory_mib} MiB of GPU memory, less than {LEAST_MEMORY_MIB}"
        )
    if core.value % CARD and core.value > CARD:
        return f"asks {_shown(core)}, which is above 100 and no multiple of it"
    if core.value % CARD == 0 and memory is not None:
        return f"asks full cards ({_shown(core)}) together with {_shown(memory)}"
    return ""


def _cards_fault(container: Container, count: int) -> str:
    """The table for a container that has `count` cards."""
    core, memory = container.core, container.memory
    if count < 0:
        return f"has {count} cards"
    if core is not None and core.value <= 0:
        return f"asks {_shown(core)}, which is not above 0"
    if memory is not None and memory.value < 0:
        return f"asks {_shown(memory)}, less than nothing"
    if count == 0:
        has_request = core is not None or memory is not None
        return "has 0 cards but asks mGPU" if has_request else ""
    if core is None:
        return f"has {count} cards but asks no mgpu-core"
    if core.value == CARD * count:
        return f"asks full cards ({_shown(core)}) together with {_shown(memory)}" if memory else ""
    return _split_fault(core, memory, count)


def _split_fault(core: Ask, memory: Ask | None, count: int) -> str:
    memory_mib = memory.value if memory else 0
    if memory_mib // count < LEAST_MEMORY_PER_CARD_MIB:
        return (
            f"asks {memory_mib} MiB for {count} cards, less than {LEAST_MEMORY_PER_CARD_MIB} each"
        )
    if core.value % count or memory_mib % count:
        return f"asks {_shown(core)} and {memory_mib} MiB, which {count} cards cannot share evenly"
    if core.value // count > CARD:
        return f"asks {_shown(core)} of {count} cards, more than 100 percent each"
    return ""


def _shown(ask: Ask | None) -> str:
    return "nothing" if ask is None else f"{ask.resource.rpartition('/')[2]} {ask.text}"


RULE = Rule(
    id="mgpu-request",
    title="Online pods ask mGPU in a combination that can be scheduled",
    remedy=(
        "ask a share (mgpu-core 1 to 99 with mgpu-memory of at least 256 MiB) or full cards "
        "(mgpu-core a multiple of 100, no mgpu-memory), equal in limits and requests"
    ),
    source="the public mGPU scheduler code, webhook part",
    classes=frozenset({PodClass.ONLINE}),
    check=check,
)
