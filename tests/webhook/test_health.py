"""The health port: alive, ready or what is missing, and the metrics."""

import asyncio

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from tests.webhook.asgi import Exchange, Received
from webhook.health import health_app
from webhook.metrics import Metrics
from webhook.readiness import Readiness


def get(path: str, readiness: Readiness | None = None) -> Received:
    registry = CollectorRegistry()
    Metrics(registry)
    app = health_app(readiness or Readiness(), lambda: generate_latest(registry))

    async def run() -> Received:
        return await Exchange(path, method="GET", headers=()).give(b"").run(app)

    return asyncio.run(run())


def ready(**reasons: str) -> Readiness:
    return Readiness(**{"policy": "", "certificate": "", **reasons})


def test_a_process_that_answers_is_alive() -> None:
    assert get("/healthz").status == 200


def test_ready_is_ok() -> None:
    received = get("/readyz", ready())
    assert (received.status, received.body) == (200, b"ok\n")


@pytest.mark.parametrize("part", ["policy", "certificate", "nodes", "stopping"])
def test_each_missing_part_makes_unready_and_is_named(part: str) -> None:
    received = get("/readyz", ready(**{part: f"{part}: why"}))
    assert (received.status, received.body) == (503, f"{part}: why\n".encode())


def test_at_the_start_policy_and_certificate_are_missing() -> None:
    received = get("/readyz")
    assert received.status == 503
    assert received.body == b"policy: not read yet\nserving certificate: not loaded yet\n"


@pytest.mark.parametrize("part", ["stale_policy", "stale_nodes", "stale_certificate"])
def test_what_is_stale_is_told_but_ready(part: str) -> None:
    received = get("/readyz", ready(**{part: "it is old"}))
    assert (received.status, received.body) == (200, b"ok\nit is old\n")


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/metrics/", "'/metrics/'"),
        ("/mutate", "'/mutate'"),
        ("/a\nb\u2028", r"'/a\nb\u2028'"),
        ("/" + "x" * 100, "'/" + "x" * 79 + "'"),
    ],
    ids=["slash", "of the other port", "not printable", "long"],
)
def test_other_paths_are_not_found_and_those_that_are_there_are_named(path: str, told: str) -> None:
    received = get(path)
    assert received.status == 404
    line = f"there is no path {told} here, the paths are /healthz, /readyz and /metrics\n"
    assert received.body == line.encode()


def test_metrics_are_in_prometheus_text_format() -> None:
    received = get("/metrics")
    assert received.status == 200
    assert received.headers[b"content-type"].startswith(b"text/plain; version=")
    assert b"# TYPE mgpu_hybrid_patches_total counter" in received.body
