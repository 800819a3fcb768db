"""The threads of a candidate, from start to stop."""

import threading
from typing import cast

from tests.builders import node
from tests.webhook.controller.fake_api import FakeApi
from tests.webhook.controller.scene import NODES, Scene
from webhook.controller.controller import LEASE_NAME, Controller, identity
from webhook.controller.plan import OnNode

LEASE = f"/apis/coordination.k8s.io/v1/namespaces/ours/leases/{LEASE_NAME}"
LIMIT_SECONDS = 30.0


class Recorder:
    """Lets a test wait for a change of an object."""

    def __init__(self, api: FakeApi) -> None:
        self._seen: dict[str, threading.Event] = {}
        self._lock = threading.Lock()
        api.before = self._note

    def wait_for(self, method: str, path: str) -> None:
        assert self._event(f"{method} {path}").wait(LIMIT_SECONDS), f"no {method} {path}"

    def _note(self, method: str, path: str) -> None:
        self._event(f"{method} {path}").set()

    def _event(self, request: str) -> threading.Event:
        with self._lock:
            return self._seen.setdefault(request, threading.Event())


def holder(api: FakeApi) -> object:
    return cast("dict[str, object]", api.objects[LEASE]["spec"])["holderIdentity"]


def test_it_leads_writes_and_lets_go() -> None:
    scene = Scene()
    scene.add(node("one"))
    recorder = Recorder(scene.api)
    controller = Controller(lambda: scene.api, lambda: scene.snapshot, scene.metrics, "ours")
    controller.start()
    recorder.wait_for("PATCH", f"{NODES}/one")
    assert scene.metric("leader") == 1
    controller.stop()
    assert scene.on("one") == OnNode("true", None)
    assert holder(scene.api) == ""
    assert scene.metric("leader") == 0


def test_it_waits_while_another_leads_and_takes_nothing_from_it() -> None:
    scene = Scene()
    scene.add(node("one"))
    spec = {"holderIdentity": "another", "leaseDurationSeconds": 3600, "renewTime": "now"}
    scene.api.create(LEASE.rpartition("/")[0], {"metadata": {"name": LEASE_NAME}, "spec": spec})
    scene.api.sent.clear()
    recorder = Recorder(scene.api)
    controller = Controller(lambda: scene.api, lambda: scene.snapshot, scene.metrics, "ours")
    controller.start()
    recorder.wait_for("GET", LEASE)
    controller.stop()
    assert scene.api.sent == []
    assert holder(scene.api) == "another"


def test_a_request_that_does_not_end_keeps_the_lease_from_being_released() -> None:
    scene = Scene()
    scene.add(node("one"))
    go_on = threading.Event()
    recorder = Recorder(scene.api)
    note = scene.api.before

    def hang(method: str, path: str) -> None:
        note(method, path)
        if method == "PATCH":
            go_on.wait(LIMIT_SECONDS)

    scene.api.before = hang
    controller = Controller(
        lambda: scene.api, lambda: scene.snapshot, scene.metrics, "ours", join_seconds=0.05
    )
    controller.start()
    recorder.wait_for("PATCH", f"{NODES}/one")
    controller.stop()
    assert holder(scene.api)
    go_on.set()


def test_no_two_candidates_have_the_same_name() -> None:
    assert identity() != identity()
