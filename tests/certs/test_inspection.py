from datetime import UTC, datetime, timedelta
from ipaddress import ip_address

import pytest
from cryptography import x509

from certs.authority import IssuedPair, issue_ca, issue_leaf
from certs.inspection import Inspection, KeyState, Unreadable, inspect
from tests.certs.builders import NAMES, NOW, encrypted, self_signed, usage

CA = issue_ca(NOW)
LEAF = issue_leaf(CA, NAMES, NOW)
OTHER_CA = issue_ca(NOW)
SERVER, CLIENT, ANY = "1.3.6.1.5.5.7.3.1", "1.3.6.1.5.5.7.3.2", "2.5.29.37.0"
SAN = x509.SubjectAlternativeName([x509.DNSName("A.Example")])


def inspected(pair: IssuedPair, now: datetime = NOW, *, ca: bytes | None = None) -> Inspection:
    found = inspect(pair.certificate, now, key=pair.key, ca=ca)
    assert isinstance(found, Inspection)
    return found


def test_a_leaf_as_issued() -> None:
    found = inspected(LEAF, ca=CA.certificate)

    assert found.subject == "CN=mgpu-hybrid-webhook"
    assert found.names == NAMES
    assert found.not_before == datetime(2030, 1, 1, 11, 50, tzinfo=UTC)
    assert found.not_after == datetime(2031, 1, 1, 12, tzinfo=UTC)
    assert (found.is_ca, found.server_auth, found.signed_by_ca) == (False, True, True)
    assert (found.key, found.problems) == (KeyState.MATCHES, ())


def test_a_ca_as_issued() -> None:
    found = inspected(CA)

    assert (found.is_ca, found.signed_by_ca, found.problems) == (True, None, ())


@pytest.mark.parametrize(
    ("key", "state"),
    [
        pytest.param(LEAF.key, KeyState.MATCHES, id="its own"),
        pytest.param(None, KeyState.ABSENT, id="none"),
        pytest.param(CA.key, KeyState.MISMATCH, id="another"),
        pytest.param(b"", KeyState.UNREADABLE, id="empty"),
        pytest.param(LEAF.key[:-40], KeyState.UNREADABLE, id="half written"),
        pytest.param(LEAF.certificate, KeyState.UNREADABLE, id="a certificate"),
        pytest.param(encrypted(LEAF.key), KeyState.UNREADABLE, id="with a passphrase"),
    ],
)
def test_the_key(key: bytes | None, state: KeyState) -> None:
    found = inspect(LEAF.certificate, NOW, key=key)

    assert isinstance(found, Inspection)
    assert found.key is state
    assert found.problems == (() if state is KeyState.MATCHES else (state.value,))


@pytest.mark.parametrize(
    ("ca", "signed"),
    [
        pytest.param(CA.certificate, True, id="its CA"),
        pytest.param(CA.certificate + OTHER_CA.certificate, True, id="its CA first in a bundle"),
        pytest.param(OTHER_CA.certificate, False, id="a CA of the same name"),
        pytest.param(LEAF.certificate, False, id="itself"),
        pytest.param(b"garbage", False, id="garbage"),
    ],
)
def test_the_signature(ca: bytes, *, signed: bool) -> None:
    found = inspected(LEAF, ca=ca)

    assert found.signed_by_ca is signed
    assert found.problems == (() if signed else ("it is not signed by the CA",))


def test_a_signature_by_a_certificate_that_is_no_ca_does_not_count() -> None:
    lone = self_signed(SAN)

    assert inspected(lone, ca=lone.certificate).signed_by_ca is False


@pytest.mark.parametrize(
    ("now", "problems"),
    [
        pytest.param(
            NOW - timedelta(minutes=10, seconds=1),
            ("it is not valid before 2030-01-01T11:50:00+00:00",),
            id="too early",
        ),
        pytest.param(NOW - timedelta(minutes=10), (), id="first second"),
        pytest.param(NOW + timedelta(days=365), (), id="last second"),
        pytest.param(
            NOW + timedelta(days=365, seconds=1),
            ("it expired at 2031-01-01T12:00:00+00:00",),
            id="too late",
        ),
    ],
)
def test_the_dates(now: datetime, problems: tuple[str, ...]) -> None:
    assert inspected(LEAF, now).problems == problems


@pytest.mark.parametrize(
    ("extensions", "problems"),
    [
        pytest.param((SAN,), (), id="no extendedKeyUsage"),
        pytest.param((SAN, usage(SERVER)), (), id="for servers"),
        pytest.param((SAN, usage(ANY)), (), id="for anything"),
        pytest.param(
            (SAN, usage(CLIENT)), ("it is not for servers (extendedKeyUsage)",), id="for clients"
        ),
        pytest.param((), ("it names no server (subjectAltName)",), id="no names"),
        pytest.param((x509.BasicConstraints(ca=True, path_length=None),), (), id="a CA"),
    ],
)
def test_what_it_is_for(
    extensions: tuple[x509.ExtensionType, ...], problems: tuple[str, ...]
) -> None:
    assert inspected(self_signed(*extensions)).problems == problems


def test_names_are_lower_case_and_only_names_of_servers() -> None:
    san = x509.SubjectAlternativeName(
        [
            x509.DNSName("A.Example"),
            x509.RFC822Name("someone@example.com"),
            x509.IPAddress(ip_address("10.0.0.1")),
        ]
    )
    found = inspected(self_signed(san))

    assert found.names.dns == ("a.example",)
    assert found.names.addresses == (ip_address("10.0.0.1"),)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"\x00\xff" * 500, id="binary"),
        pytest.param(b"hello", id="text"),
        pytest.param(LEAF.key, id="a key"),
        pytest.param(LEAF.certificate[:-60], id="half written"),
        pytest.param(
            b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", id="empty PEM"
        ),
    ],
)
def test_what_is_no_certificate(content: bytes) -> None:
    assert inspect(content, NOW, key=LEAF.key) == Unreadable("not a PEM certificate")


# A negative serial number is a warning today and a ValueError in a later release.
@pytest.mark.filterwarnings(
    "ignore:.*serial number:cryptography.utils.CryptographyDeprecationWarning"
)
@pytest.mark.parametrize("byte", [b"A", b"/", b"9", b"=", b"\n", b"\xff"])
@pytest.mark.parametrize("spoil_key", [False, True], ids=["certificate", "key"])
def test_no_damaged_byte_is_an_exception(byte: bytes, *, spoil_key: bool) -> None:
    source = LEAF.key if spoil_key else LEAF.certificate
    for at in range(len(source)):
        spoilt = source[:at] + byte + source[at + 1 :]
        certificate, key = (LEAF.certificate, spoilt) if spoil_key else (spoilt, LEAF.key)

        found = inspect(certificate, NOW, key=key, ca=CA.certificate)

        if isinstance(found, Inspection) and found.problems == ():
            # What was damaged is outside the PEM's base64, or the byte was this one anyway.
            assert found == inspected(LEAF, ca=CA.certificate)
