"""A busy cluster: hundreds of node updates a second from a stand-in's watch, and pods over HTTPS meanwhile.

The stand-in, because an API server and the webhook on one small machine would measure each other.
"""

import http.client
import json
import logging
import ssl
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

import pytest

from demo.admission import JsonObject, review
from demo.server import RunningServer
from tests.builders import COMPUTE_POLICY, Object, bare_offline_pod, node
from tests.cluster.admission.live_nodes import metric
from tests.cluster.admission.registered_webhook import serving_live
from tests.cluster.live.served import is_ready
from tests.cluster.waiting import eventually
from tests.webhook.cluster.standin import ApiStandIn

logger = logging.getLogger(__name__)
"""`--log-cli-level=INFO` shows the figures."""

BUSY_NODES = 500
STEADY_NODES = 500
UPDATES_PER_SECOND = 500
PACE_SECONDS = 0.02
CONNECTIONS = 4
GOOD, NATIVE = "guaranteed-burst-share", "native-burst-share"


@dataclass(frozen=True, slots=True)
class Call:
    """A request for one of the hooks and the verdict that is right all the time."""

    path: str
    body: bytes
    is_allowed: bool
    has_patch: bool


def busy(number: int, compute_policy: str, beat: int) -> Object:
    """A node that changes all the time: its compute policy, and what no decision reads."""
    labels = {"pool": "busy", COMPUTE_POLICY: compute_policy}
    return node(f"busy-{number}", labels=labels, annotations={"example.com/beat": str(beat)})


def steady(number: int, pool: str, compute_policy: str) -> Object:
    return node(f"{pool}-{number}", labels={"pool": pool, COMPUTE_POLICY: compute_policy})


class Updates:
    """A thread that updates the busy nodes in turn, at an even pace."""

    def __init__(self, standin: ApiStandIn) -> None:
        self._standin = standin
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.made = 0

    def __enter__(self) -> "Updates":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        began = time.monotonic()
        while not self._stop.wait(PACE_SECONDS):
            due = int((time.monotonic() - began) * UPDATES_PER_SECOND)
            for made in range(self.made, due):
                is_odd_round = made // BUSY_NODES % 2
                policy = NATIVE if is_odd_round else GOOD
                self._standin.put(busy(made % BUSY_NODES, policy, made))
            self.made = due


@pytest.fixture
def standin() -> Iterator[ApiStandIn]:
    with ApiStandIn() as api:
        for number in range(BUSY_NODES):
            api.put(busy(number, GOOD, 0))
        for number in range(STEADY_NODES):
            api.put(steady(number, "good", GOOD))
            api.put(steady(number, "bad", NATIVE))
        yield api


@pytest.mark.parametrize(
    ("pods", "least_seconds"),
    [
        pytest.param(1_000, 5, id="seconds"),
        pytest.param(12_000, 60, id="a minute", marks=pytest.mark.soak),
    ],
)
def test_pods_are_judged_right_while_nodes_change(
    standin: ApiStandIn, tmp_path: Path, pods: int, least_seconds: int
) -> None:
    with serving_live(tmp_path / "tls", standin.kubeconfig(tmp_path), "--no-controller") as server:
        eventually(lambda: is_ready(server), "the nodes are listed")
        calls = [
            *calls_for(server, "good", is_allowed=True),
            *calls_for(server, "bad", is_allowed=False),
        ]
        began = time.monotonic()
        with Updates(standin) as updates:
            seconds = admit(server, calls, pods)
            while time.monotonic() - began < least_seconds:
                seconds += admit(server, calls, pods // 10)
            made = updates.made
        assert made >= least_seconds * UPDATES_PER_SECOND * 0.9
        assert len(seconds) >= 2 * pods

        for number in range(BUSY_NODES):
            standin.put(busy(number, NATIVE, made))
        standin.remove("busy-0")
        left = BUSY_NODES - 1
        wanted = f"{left} of {left} possible nodes (nodeSelector pool=busy)"
        last = bare_offline_pod(nodeSelector={"pool": "busy"})
        eventually(lambda: wanted in server.client.create(last).message, "the last state counts")
        assert metric(server, "mgpu_hybrid_nodes") == left + 2 * STEADY_NODES
        assert metric(server, "mgpu_hybrid_rule_errors_total") == 0
        assert metric(server, "mgpu_hybrid_node_watch_restarts_total") == 0
        assert is_ready(server)
    seconds.sort()
    logger.info(
        "%d updates; %d calls, median %.1f ms, p99 %.1f ms, longest %.1f ms",
        made,
        len(seconds),
        *(1000 * seconds[int(len(seconds) * share)] for share in (0.5, 0.99)),
        1000 * seconds[-1],
    )


def calls_for(server: RunningServer, pool: str, *, is_allowed: bool) -> Sequence[Call]:
    """Both calls that the API server makes for a new pod of the pool."""
    pod = bare_offline_pod(nodeSelector={"pool": pool})
    admission = server.client.create(pod)
    assert admission.allowed is is_allowed
    mutate, validate = review(pod), review(admission.after)
    return (
        Call("/mutate", json.dumps(mutate).encode(), is_allowed=True, has_patch=True),
        Call("/validate", json.dumps(validate).encode(), is_allowed=is_allowed, has_patch=False),
    )


def admit(server: RunningServer, calls: Sequence[Call], pods: int) -> list[float]:
    """Make the calls for so many pods over a few connections, and check each. Returns their seconds."""
    faults: list[str] = []
    seconds: list[float] = []

    def work(count: int) -> None:
        tls = ssl.create_default_context(cafile=str(server.client.ca_path))
        connection = http.client.HTTPSConnection(
            server.client.host, server.client.port, timeout=30, context=tls
        )
        for number in range(count):
            call = calls[number % len(calls)]
            began = time.monotonic()
            faults.append(fault_of(connection, call))
            seconds.append(time.monotonic() - began)
        connection.close()

    threads = [
        threading.Thread(target=work, args=(2 * pods // CONNECTIONS,)) for _ in range(CONNECTIONS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Counter(faults) == {"": 2 * pods}
    return seconds


def fault_of(connection: http.client.HTTPSConnection, call: Call) -> str:
    """What is wrong with the answer, "" when it is right."""
    connection.request("POST", call.path, call.body, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    text = answer.read()
    if answer.status != HTTPStatus.OK:
        return f"{answer.status}: {text[:200]!r}"
    response: JsonObject = json.loads(text)["response"]
    is_right = response["allowed"] is call.is_allowed and ("patch" in response) is call.has_patch
    return "" if is_right else f"wrong answer: {text[:200]!r}"
