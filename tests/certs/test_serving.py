import asyncio
import ssl
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import uvloop

from certs.authority import IssuedPair
from certs.errors import ServingPairError
from certs.pair import Rejected
from certs.serving import Reloaded, ServingContext, Unchanged
from tests.certs.builders import (
    Pki,
    client_context,
    connect,
    echo_server,
    fingerprint,
    new_pki,
    peer_fingerprint,
    put,
    says,
    served_fingerprint,
)

START = datetime.now(UTC)
"""The handshakes are checked by OpenSSL, which has the real clock."""


@pytest.fixture
def pki(tmp_path: Path) -> Pki:
    return new_pki(tmp_path, START)


@pytest.fixture
def first(pki: Pki) -> IssuedPair:
    return pki.leaf(START)


def serve(directory: Path, pair: IssuedPair, now: datetime = START) -> ServingContext:
    return ServingContext(*put(directory, pair), clock=lambda: now)


@pytest.mark.parametrize(
    ("server", "version"),
    [
        pytest.param("localhost", ssl.TLSVersion.TLSv1_3, id="by name"),
        pytest.param("mgpu-hybrid-webhook.mgpu-system.svc", ssl.TLSVersion.TLSv1_3, id="Service"),
        pytest.param("127.0.0.1", ssl.TLSVersion.TLSv1_3, id="by address, no server name sent"),
        pytest.param("localhost", ssl.TLSVersion.TLSv1_2, id="TLS 1.2"),
        pytest.param("127.0.0.1", ssl.TLSVersion.TLSv1_2, id="TLS 1.2 by address"),
    ],
)
def test_a_client_that_trusts_the_ca_is_served(
    tmp_path: Path, pki: Pki, first: IssuedPair, server: str, version: ssl.TLSVersion
) -> None:
    serving, client = serve(tmp_path, first), client_context(pki.ca_file)
    client.minimum_version = client.maximum_version = version
    client.set_alpn_protocols(["h2", "http/1.1"])

    with echo_server(serving.context) as port, connect(port, client, server=server) as connection:
        assert says(connection, b"hello") == b"hello"
        assert connection.selected_alpn_protocol() == "http/1.1"
        assert peer_fingerprint(connection) == serving.fingerprint == fingerprint(first)
        assert serving.not_after == START.replace(microsecond=0) + timedelta(days=365)


def test_a_name_that_is_not_in_the_certificate_fails_at_the_client(
    tmp_path: Path, pki: Pki, first: IssuedPair
) -> None:
    serving, client = serve(tmp_path, first), client_context(pki.ca_file)

    with (
        echo_server(serving.context) as port,
        pytest.raises(ssl.SSLCertVerificationError, match="Hostname mismatch"),
        connect(port, client, server="elsewhere"),
    ):
        pass


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_no_session_ticket_is_given(
    tmp_path: Path, pki: Pki, first: IssuedPair, version: ssl.TLSVersion
) -> None:
    serving, client = serve(tmp_path, first), client_context(pki.ca_file)
    client.minimum_version = client.maximum_version = version

    with echo_server(serving.context) as port, connect(port, client) as connection:
        says(connection, b"x")
        assert connection.session is not None
        assert not connection.session.has_ticket


def test_files_that_do_not_change_are_left_alone(tmp_path: Path, first: IssuedPair) -> None:
    serving = serve(tmp_path, first)
    put(tmp_path, first)

    assert serving.reload_if_changed() == Unchanged()


def test_a_new_pair_is_served_while_old_connections_go_on(
    tmp_path: Path, pki: Pki, first: IssuedPair
) -> None:
    serving, client = serve(tmp_path, first), client_context(pki.ca_file)
    second = pki.leaf(START + timedelta(seconds=60))

    with echo_server(serving.context) as port, connect(port, client) as old:
        assert says(old, b"before") == b"before"
        put(tmp_path, second)
        assert serving.reload_if_changed() == Reloaded(fingerprint(second), serving.not_after)
        assert says(old, b"after") == b"after"
        assert peer_fingerprint(old) == fingerprint(first)
        assert served_fingerprint(port, client) == fingerprint(second) == serving.fingerprint
    assert serving.reload_if_changed() == Unchanged()


def test_a_connection_that_was_accepted_before_a_reload_gets_the_new_pair(
    tmp_path: Path, pki: Pki, first: IssuedPair
) -> None:
    serving, client = serve(tmp_path, first), client_context(pki.ca_file)
    second = pki.leaf(START)
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    accepted = serving.context.wrap_bio(to_server, to_client, server_side=True)
    with pytest.raises(ssl.SSLWantReadError):
        accepted.do_handshake()
    put(tmp_path, second)
    serving.reload_if_changed()

    caller = client.wrap_bio(to_client, to_server, server_hostname="localhost")
    for side in (caller, accepted):
        with pytest.raises(ssl.SSLWantReadError):
            side.do_handshake()
    caller.do_handshake()
    accepted.do_handshake()

    assert ssl.DER_cert_to_PEM_cert(caller.getpeercert(binary_form=True) or b"").encode() == (
        second.certificate
    )


def garbage(directory: Path, _: IssuedPair, __: IssuedPair) -> None:
    (directory / "tls.crt").write_bytes(b"\x00junk")


def half_a_certificate(directory: Path, new: IssuedPair, _: IssuedPair) -> None:
    put(directory, IssuedPair(new.certificate[:-50], new.key))


def half_a_key(directory: Path, new: IssuedPair, _: IssuedPair) -> None:
    put(directory, IssuedPair(new.certificate, new.key[:-50]))


def only_the_certificate(directory: Path, new: IssuedPair, _: IssuedPair) -> None:
    (directory / "tls.crt").write_bytes(new.certificate)


def only_the_key(directory: Path, new: IssuedPair, _: IssuedPair) -> None:
    (directory / "tls.key").write_bytes(new.key)


def no_certificate(directory: Path, _: IssuedPair, __: IssuedPair) -> None:
    (directory / "tls.crt").unlink()


def no_key(directory: Path, _: IssuedPair, __: IssuedPair) -> None:
    (directory / "tls.key").unlink()


def an_expired_pair(directory: Path, _: IssuedPair, expired: IssuedPair) -> None:
    put(directory, expired)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        pytest.param(garbage, "not a PEM certificate", id="garbage"),
        pytest.param(half_a_certificate, "not a PEM certificate", id="half a certificate"),
        pytest.param(half_a_key, "not a PEM private key", id="half a key"),
        pytest.param(only_the_certificate, "does not belong", id="certificate before key"),
        pytest.param(only_the_key, "does not belong", id="key before certificate"),
        pytest.param(no_certificate, "tls.crt is missing", id="no certificate"),
        pytest.param(no_key, "tls.key is missing", id="no key"),
        pytest.param(an_expired_pair, "it expired at", id="expired"),
    ],
)
def test_a_bad_pair_is_told_once_and_the_old_one_goes_on(
    tmp_path: Path,
    pki: Pki,
    first: IssuedPair,
    spoil: Callable[[Path, IssuedPair, IssuedPair], None],
    words: str,
) -> None:
    serving, client = serve(tmp_path, first), client_context(pki.ca_file)
    new, expired = pki.leaf(START), pki.leaf(START - timedelta(days=400))

    with echo_server(serving.context) as port:
        spoil(tmp_path, new, expired)
        outcome = serving.reload_if_changed()
        assert isinstance(outcome, Rejected)
        assert words in outcome.reason
        assert serving.reload_if_changed() == Unchanged()
        assert served_fingerprint(port, client) == fingerprint(first) == serving.fingerprint

        put(tmp_path, new)
        assert isinstance(serving.reload_if_changed(), Reloaded)
        assert served_fingerprint(port, client) == fingerprint(new)


def test_the_same_fault_is_told_again_after_it_was_mended(
    tmp_path: Path, first: IssuedPair
) -> None:
    serving = serve(tmp_path, first)
    (tmp_path / "tls.crt").write_bytes(b"junk")
    assert isinstance(serving.reload_if_changed(), Rejected)
    put(tmp_path, first)
    assert serving.reload_if_changed() == Unchanged()
    (tmp_path / "tls.crt").write_bytes(b"junk")

    assert isinstance(serving.reload_if_changed(), Rejected)


def test_a_pair_that_is_not_valid_yet_is_taken_up_when_it_is(
    tmp_path: Path, pki: Pki, first: IssuedPair
) -> None:
    now = START
    serving = ServingContext(*put(tmp_path, first), clock=lambda: now)
    later = pki.leaf(START + timedelta(hours=1))
    put(tmp_path, later)
    outcome = serving.reload_if_changed()
    assert isinstance(outcome, Rejected)
    assert "not valid before" in outcome.reason
    assert serving.reload_if_changed() == Unchanged()

    now = START + timedelta(hours=1)

    assert isinstance(serving.reload_if_changed(), Reloaded)
    assert serving.fingerprint == fingerprint(later)


def test_a_mounted_secret_changes_by_the_swap_of_a_link(
    tmp_path: Path, pki: Pki, first: IssuedPair
) -> None:
    second = pki.leaf(START)
    for name, pair in (("..1", first), ("..2", second)):
        (tmp_path / name).mkdir()
        put(tmp_path / name, pair)
    (tmp_path / "..data").symlink_to("..1")
    for name in ("tls.crt", "tls.key"):
        (tmp_path / name).symlink_to(f"..data/{name}")
    serving = ServingContext(tmp_path / "tls.crt", tmp_path / "tls.key", clock=lambda: START)
    assert serving.fingerprint == fingerprint(first)

    (tmp_path / "..data_tmp").symlink_to("..2")
    (tmp_path / "..data_tmp").rename(tmp_path / "..data")

    assert isinstance(serving.reload_if_changed(), Reloaded)
    assert serving.fingerprint == fingerprint(second)


@pytest.mark.parametrize(
    ("offset", "words"),
    [
        pytest.param(timedelta(days=366), "it expired at", id="expired"),
        pytest.param(timedelta(days=-1), "it is not valid before", id="not yet valid"),
    ],
)
def test_a_server_does_not_start_outside_the_dates(
    tmp_path: Path, first: IssuedPair, offset: timedelta, words: str
) -> None:
    with pytest.raises(ServingPairError, match=words):
        serve(tmp_path, first, START + offset)


def test_no_key_shows_in_an_error(tmp_path: Path, first: IssuedPair) -> None:
    lines = first.key.decode().splitlines()[1:-1]
    broken = first.key.replace(lines[0].encode(), lines[0].encode()[::-1])

    with pytest.raises(ServingPairError) as caught:
        serve(tmp_path, IssuedPair(first.certificate, broken))

    told = f"{caught.value!s} {caught.value!r} {caught.value.__cause__!r}"
    assert "not a PEM private key" in told
    assert not any(line in told or line[::-1] in told for line in lines)


async def _echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(await reader.readexactly(1))
    await writer.drain()
    writer.close()
    await writer.wait_closed()


async def _shown(serving: ServingContext, client: ssl.SSLContext) -> bytes:
    """The certificate that an asyncio server with this context shows."""
    async with await asyncio.start_server(_echo, "127.0.0.1", 0, ssl=serving.context) as server:
        port = server.sockets[0].getsockname()[1]
        reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=client)
        writer.write(b"x")
        assert await reader.readexactly(1) == b"x"
        der = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
        writer.close()
        await writer.wait_closed()
    assert isinstance(der, bytes)
    return der


@pytest.mark.parametrize("run", [asyncio.run, uvloop.run], ids=["asyncio", "uvloop"])
def test_event_loops_serve_the_reloaded_pair(
    tmp_path: Path,
    pki: Pki,
    first: IssuedPair,
    run: Callable[[Coroutine[object, object, bytes]], bytes],
) -> None:
    serving, client = serve(tmp_path, first), client_context(pki.ca_file)
    assert run(_shown(serving, client)) == ssl.PEM_cert_to_DER_cert(first.certificate.decode())
    second = pki.leaf(START)
    put(tmp_path, second)
    serving.reload_if_changed()

    assert run(_shown(serving, client)) == ssl.PEM_cert_to_DER_cert(second.certificate.decode())
