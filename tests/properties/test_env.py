"""The kubelet takes the last of two variables of one name: what counts is the effective environment."""

from hypothesis import given

from policies.pod import parse_pod
from policies.policy import Policy
from policies.raw import JsonObject
from tests.properties.containers import INJECTED_NAME
from tests.properties.fields import Document
from tests.properties.patching import patched
from tests.properties.pods import offline_pods
from tests.properties.reading import containers_of, env_of

POLICY = Policy()
EXPECTED = {"name": INJECTED_NAME, "value": "offline"}


def _of_user(container: JsonObject) -> list[JsonObject]:
    return [entry for entry in env_of(container) if entry.get("name") != INJECTED_NAME]


@given(raw=offline_pods())
def test_every_container_that_asks_mgpu_is_marked_by_every_entry_of_the_name(raw: Document) -> None:
    for container in parse_pod(patched(raw), POLICY).mgpu_containers:
        marks = [entry for entry in env_of(container.raw) if entry.get("name") == INJECTED_NAME]
        assert marks
        for mark in marks:
            assert mark.get("valueFrom") is None
            assert {key: mark[key] for key in EXPECTED} == EXPECTED


@given(raw=offline_pods())
def test_variables_of_the_user_keep_value_and_order(raw: Document) -> None:
    for before, after in zip(containers_of(raw), containers_of(patched(raw)), strict=True):
        assert _of_user(before) == _of_user(after)


@given(raw=offline_pods())
def test_an_entry_of_the_user_stays_where_it_was_and_a_new_one_comes_first(raw: Document) -> None:
    for before, after in zip(containers_of(raw), containers_of(patched(raw)), strict=True):
        names = [[entry.get("name") for entry in env_of(c)] for c in (before, after)]
        assert names[1] in (names[0], [INJECTED_NAME, *names[0]])


@given(raw=offline_pods())
def test_a_container_that_asks_no_mgpu_keeps_its_env(raw: Document) -> None:
    pairs = zip(parse_pod(raw, POLICY).containers, containers_of(patched(raw)), strict=True)
    for container, after in pairs:
        if not container.asks_mgpu:
            assert container.raw == after
