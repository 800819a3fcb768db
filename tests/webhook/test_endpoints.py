"""The hot routes: heads, bodies and limits, each refusal with one clear line."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from prometheus_client import CollectorRegistry

from policies.policy import Policy
from tests.builders import bare_offline_pod, pod
from tests.webhook.asgi import JSON_HEADERS, Exchange, Received, post
from tests.webhook.reviews import UID, body, response
from webhook.app import WebhookApp, webhook_app
from webhook.body import LARGE_BODY_BYTES, MAX_BODY_BYTES, Intake
from webhook.metrics import Metrics
from webhook.state import Snapshot, State

LARGE = body(pod(metadata={"annotations": {"x": "y" * LARGE_BODY_BYTES}}))


def app(intake: Intake | None = None, registry: CollectorRegistry | None = None) -> WebhookApp:
    metrics = Metrics(registry or CollectorRegistry())
    return webhook_app(State(Snapshot(Policy())), metrics, intake)


def run(test: Callable[[], Awaitable[None]]) -> None:
    """Run an asynchronous test to its end."""

    async def whole() -> None:
        await test()

    asyncio.run(whole())


def answered(exchange: Exchange, application: WebhookApp | None = None) -> Received:
    async def whole() -> Received:
        return await exchange.run(application or app())

    return asyncio.run(whole())


@pytest.mark.parametrize("path", ["/mutate", "/validate"])
def test_a_review_is_answered(path: str) -> None:
    received = post(app(), path, body(bare_offline_pod()))
    assert received.status == 200
    assert received.headers[b"content-type"] == b"application/json"
    assert received.headers[b"content-length"] == str(len(received.body)).encode()
    assert response(received.body)["uid"] == UID


@pytest.mark.parametrize(
    "content_type",
    [b"application/json; charset=utf-8", b"Application/JSON", b"application/json ;x=y"],
    ids=["charset", "case", "space"],
)
def test_a_content_type_may_have_parameters(content_type: bytes) -> None:
    exchange = Exchange(headers=[(b"content-type", content_type)]).give(body(pod()))
    assert answered(exchange).status == 200


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH"])
def test_another_method_is_not_allowed(method: str) -> None:
    received = answered(Exchange(method=method).give(b""))
    assert received.status == 405
    assert received.headers[b"allow"] == b"POST"
    assert received.body == f"the method must be POST, it is {method}\n".encode()


@pytest.mark.parametrize(
    ("content_type", "told"),
    [
        (b"text/plain", b"'text/plain'"),
        (b"application/jsonx", b"'application/jsonx'"),
        (b"application/yaml; x=application/json", b"'application/yaml; x=application/json'"),
        (b"", b"''"),
    ],
    ids=["text", "longer", "parameter", "empty"],
)
def test_another_content_type_is_not_supported(content_type: bytes, told: bytes) -> None:
    exchange = Exchange(headers=[(b"content-type", content_type)]).give(body(pod()))
    received = answered(exchange)
    assert received.status == 415
    assert received.body == b"the content type must be application/json, it is " + told + b"\n"


def test_no_content_type_is_not_supported() -> None:
    received = answered(Exchange(headers=[]).give(body(pod())))
    assert received.status == 415
    assert received.body == b"the content type must be application/json, it is absent\n"


@pytest.mark.parametrize("encodings", [[b"identity"], [b"Identity"], [b""]])
def test_a_body_as_it_is_is_taken(encodings: list[bytes]) -> None:
    assert answered(encoded(encodings)).status == 200


@pytest.mark.parametrize(
    ("encodings", "told"),
    [
        ([b"gzip"], b"'gzip'"),
        ([b"gzip", b"identity"], b"'gzip'"),
        ([b"identity, br"], b"'identity, br'"),
    ],
    ids=["gzip", "first of two", "list"],
)
def test_another_content_encoding_is_not_supported(encodings: list[bytes], told: bytes) -> None:
    received = answered(encoded(encodings))
    assert received.status == 415
    assert received.body == b"the content encoding must be identity, it is " + told + b"\n"


def encoded(encodings: list[bytes]) -> Exchange:
    headers = [(b"content-encoding", encoding) for encoding in encodings]
    return Exchange(headers=[*JSON_HEADERS, *headers]).give(body(pod()))


def with_length(length: int) -> Exchange:
    return Exchange(headers=[*JSON_HEADERS, (b"content-length", str(length).encode())])


def test_a_length_over_the_limit_is_refused_before_the_body_comes() -> None:
    exchange = with_length(MAX_BODY_BYTES + 1).disconnect()
    received = answered(exchange)
    assert received.status == 413
    assert received.headers[b"connection"] == b"close"
    assert received.body == b"the body is larger than 9437184 bytes (9 MiB)\n"


def test_a_length_at_the_limit_is_taken() -> None:
    exchange = with_length(MAX_BODY_BYTES).give(b"[" + b" " * (MAX_BODY_BYTES - 2) + b"]")
    assert answered(exchange).status == 400


def chunked(size: int) -> Exchange:
    exchange = Exchange().give(b"[", more=True)
    left = size - 2
    while left > 0:
        exchange.give(b" " * min(left, 65536), more=True)
        left -= 65536
    return exchange.give(b"]")


def test_a_chunked_body_at_the_limit_is_taken() -> None:
    assert answered(chunked(MAX_BODY_BYTES)).status == 400


def test_a_chunked_body_over_the_limit_is_refused() -> None:
    assert answered(chunked(MAX_BODY_BYTES + 1)).status == 413
    assert answered(Exchange().give(b" " * (MAX_BODY_BYTES + 1))).status == 413


def test_a_refused_body_is_drained_so_that_the_answer_arrives() -> None:
    exchange = with_length(MAX_BODY_BYTES + 1)
    exchange.give(b"x" * 100, more=True).give(b"x" * 100)
    assert answered(exchange).status == 413
    assert exchange.incoming.empty()


def test_a_client_that_waits_for_100_continue_is_not_drained() -> None:
    headers = [*JSON_HEADERS, (b"content-length", b"10000000"), (b"expect", b"100-continue")]
    exchange = Exchange(headers=headers)
    assert answered(exchange).status == 413
    assert not exchange.waiting.is_set()


@pytest.mark.parametrize("parts", [0, 1, 100], ids=["before", "early", "late"])
def test_a_client_that_goes_away_is_no_fault(parts: int) -> None:
    registry = CollectorRegistry()
    exchange = Exchange()
    for _ in range(parts):
        exchange.give(b"x" * 10_000, more=True)
    assert answered(exchange.disconnect(), app(registry=registry)).status == 0
    labels = {"reason": "disconnect"}
    assert registry.get_sample_value("mgpu_hybrid_bad_requests_total", labels) == 1


def test_a_slow_body_is_a_timeout() -> None:
    exchange = Exchange().give(b"{", more=True)

    async def test() -> None:
        task = asyncio.create_task(exchange.run(app(Intake(body_seconds=0.01))))
        while not exchange.sent:
            await asyncio.wait([task], timeout=0.01)
        exchange.disconnect()
        received = await task
        assert received.status == 408
        assert received.body == b"the body did not arrive within 0.01 seconds\n"

    run(test)


def test_requests_above_the_limit_are_told_to_try_again() -> None:
    async def test() -> None:
        application = app(Intake(max_bodies=1))
        slow = Exchange()
        first = asyncio.create_task(slow.run(application))
        await slow.waiting.wait()
        refused = await Exchange().give(body(pod())).run(application)
        assert refused.status == 503
        assert refused.headers[b"retry-after"] == b"1"
        slow.give(body(pod()))
        assert (await first).status == 200
        assert (await Exchange().give(body(pod())).run(application)).status == 200

    run(test)


def test_large_bodies_have_places_of_their_own() -> None:
    async def test() -> None:
        application = app(Intake(max_large=1))
        slow = Exchange().give(LARGE[:-1], more=True)
        first = asyncio.create_task(slow.run(application))
        await slow.waiting.wait()
        second = Exchange().give(LARGE[:-1], more=True).give(LARGE[-1:])
        assert (await second.run(application)).status == 503
        assert (await Exchange().give(body(pod())).run(application)).status == 200
        slow.give(LARGE[-1:])
        assert (await first).status == 200
        again = Exchange().give(LARGE[:-1], more=True).give(LARGE[-1:])
        assert (await again.run(application)).status == 200

    run(test)


def test_a_body_in_many_pieces_is_one_body() -> None:
    exchange = Exchange()
    content = body(bare_offline_pod())
    for index in range(len(content)):
        exchange.give(content[index : index + 1], more=True)
    received = answered(exchange.give(b""))
    assert response(received.body)["uid"] == UID


@pytest.mark.parametrize(
    "path", ["/", "/mutate/", "/validate/x", "/healthz", "/docs", "/openapi.json/"]
)
def test_other_paths_are_not_found(path: str) -> None:
    received = post(app(), path, body(pod()))
    assert received.status == 404
    line = f"there is no path '{path}' here, the paths are /mutate, /validate and /openapi.json\n"
    assert received.body == line.encode()


def test_the_hooks_are_described() -> None:
    received = answered(Exchange("/openapi.json", method="GET").give(b""))
    assert received.status == 200
    assert b'"/mutate"' in received.body
    assert b'"/validate"' in received.body
