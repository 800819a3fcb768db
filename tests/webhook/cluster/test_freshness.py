"""What `/readyz` says of the age of the nodes."""

import pytest

from webhook.cluster.freshness import Freshness


def fresh(trouble: str) -> Freshness:
    return Freshness(is_synced=True, heard_seconds=100.0, trouble=trouble)


def unsynced(trouble: str) -> Freshness:
    return Freshness(is_synced=False, heard_seconds=100.0, trouble=trouble)


@pytest.mark.parametrize(
    ("freshness", "now", "missing", "stale"),
    [
        pytest.param(fresh(""), 160.0, "", "", id="just fresh"),
        pytest.param(
            fresh(""),
            161.0,
            "",
            "node snapshot: 61 s old, the last one counts on: nothing comes from the API server",
            id="just stale",
        ),
        pytest.param(
            fresh("GET /version: refused"),
            400.0,
            "",
            "node snapshot: 300 s old, the last one counts on: GET /version: refused",
            id="stale with a reason",
        ),
        pytest.param(
            fresh("GET /version: refused"),
            130.0,
            "",
            "",
            id="trouble, not yet stale",
        ),
        pytest.param(unsynced(""), 400.0, "node snapshot: not synced yet", "", id="not synced"),
        pytest.param(
            unsynced("no way"),
            400.0,
            "node snapshot: not synced yet: no way",
            "",
            id="not synced with a reason",
        ),
        pytest.param(fresh(""), 99.0, "", "", id="never younger than zero"),
    ],
)
def test_words(freshness: Freshness, now: float, missing: str, stale: str) -> None:
    assert freshness.missing() == missing
    assert freshness.stale(now, 60.0) == stale
    assert freshness.age_seconds(now) >= 0.0
