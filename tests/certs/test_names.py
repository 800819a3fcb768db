import re
from ipaddress import ip_address

import pytest

from certs.errors import ServingNamesError
from certs.names import ServingNames, webhook_names


def test_the_names_are_those_of_the_service_and_loopback() -> None:
    names = webhook_names("mgpu-system")

    assert names.dns == (
        "mgpu-hybrid-webhook.mgpu-system.svc",
        "mgpu-hybrid-webhook.mgpu-system.svc.cluster.local",
        "mgpu-hybrid-webhook.mgpu-system",
        "mgpu-hybrid-webhook",
        "localhost",
    )
    assert names.addresses == (ip_address("127.0.0.1"), ip_address("::1"))


@pytest.mark.parametrize("namespace", ["a", "0", "kube-system", "a" * 63])
def test_a_dns_label_is_a_namespace(namespace: str) -> None:
    assert webhook_names(namespace).dns[2] == f"mgpu-hybrid-webhook.{namespace}"


@pytest.mark.parametrize("namespace", ["", "a" * 64, "-a", "a-", "A", "a.b", "a\n", "*", "ä"])
def test_anything_else_is_refused(namespace: str) -> None:
    with pytest.raises(ServingNamesError, match=re.escape(repr(namespace))):
        webhook_names(namespace)


@pytest.mark.parametrize(
    ("there", "missing"),
    [
        pytest.param((("a", "b"), ("127.0.0.1",)), (), id="the same"),
        pytest.param((("c", "b", "a"), ("::1", "127.0.0.1")), (), id="more, in another order"),
        pytest.param((("a",), ("127.0.0.1",)), ("b",), id="a DNS name is missing"),
        pytest.param((("a", "b"), ("::1",)), ("127.0.0.1",), id="an address is missing"),
        pytest.param((("a", "b", "127.0.0.1"), ()), ("127.0.0.1",), id="an address as a DNS name"),
        pytest.param((("a", "*"), ("127.0.0.1",)), ("b",), id="a wildcard does not count"),
    ],
)
def test_what_is_missing(
    there: tuple[tuple[str, ...], tuple[str, ...]], missing: tuple[str, ...]
) -> None:
    wanted = ServingNames(("a", "b"), (ip_address("127.0.0.1"),))
    found = ServingNames(there[0], tuple(ip_address(text) for text in there[1]))

    assert wanted.missing_from(found) == missing
