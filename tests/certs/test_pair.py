import ssl
from datetime import timedelta
from pathlib import Path

import pytest

from certs.authority import issue_ca, issue_leaf
from certs.files import read_file
from certs.pair import PairContent, Rejected, load_pair, new_server_context, read_pair
from tests.certs.builders import NAMES, NOW, put

CA = issue_ca(NOW)
LEAF = issue_leaf(CA, NAMES, NOW)


def test_both_files_are_read(tmp_path: Path) -> None:
    assert read_pair(*put(tmp_path, LEAF)) == PairContent(LEAF.certificate, LEAF.key)


def test_files_that_change_between_the_readings_are_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths, new = put(tmp_path, LEAF), issue_leaf(CA, NAMES, NOW)
    read_paths: list[Path] = []

    def read_then_change(path: Path) -> bytes | None:
        content = read_file(path)
        if not read_paths:
            put(tmp_path, new)
        read_paths.append(path)
        return content

    monkeypatch.setattr("certs.pair.read_file", read_then_change)

    assert read_pair(*paths) == PairContent(new.certificate, new.key)


@pytest.mark.parametrize("name", ["tls.crt", "tls.key"])
def test_a_missing_file_is_told_by_its_path(tmp_path: Path, name: str) -> None:
    paths = put(tmp_path, LEAF)
    (tmp_path / name).unlink()

    assert read_pair(*paths) == Rejected(f"{tmp_path / name} is missing")


def test_a_file_that_cannot_be_read_is_told_by_its_path(tmp_path: Path) -> None:
    paths = put(tmp_path, LEAF)
    paths[1].unlink()
    paths[1].mkdir()

    assert read_pair(*paths) == Rejected(f"{paths[1]} is not a regular file")


def test_the_repr_and_the_digest_do_not_show_the_key() -> None:
    content = PairContent(LEAF.certificate, LEAF.key)

    assert "PRIVATE" not in repr(content)
    assert content.digest() != PairContent(LEAF.certificate, CA.key).digest()
    assert content.digest() != PairContent(CA.certificate, LEAF.key).digest()


@pytest.mark.parametrize(
    "certificate",
    [
        pytest.param(LEAF.certificate, id="leaf"),
        pytest.param(LEAF.certificate + CA.certificate, id="leaf and CA"),
        pytest.param(b"a remark\n" + LEAF.certificate, id="text before it"),
        pytest.param(LEAF.certificate.replace(b"\n", b"\r\n"), id="CRLF"),
        pytest.param(LEAF.certificate.rstrip(), id="no final newline"),
    ],
)
def test_a_pair_that_can_be_served(certificate: bytes) -> None:
    loaded = load_pair(PairContent(certificate, LEAF.key), NOW)

    assert not isinstance(loaded, Rejected)
    context, found = loaded
    assert context.cert_store_stats()["x509"] == 0
    assert found.not_after == NOW + timedelta(days=365)


@pytest.mark.parametrize(
    ("certificate", "key", "reason"),
    [
        pytest.param(b"junk", LEAF.key, "not a PEM certificate", id="garbage"),
        pytest.param(
            LEAF.certificate, CA.key, "the key does not belong to the certificate", id="mismatch"
        ),
        pytest.param(
            CA.certificate + LEAF.certificate,
            LEAF.key,
            "the key does not belong to the certificate",
            id="CA before leaf",
        ),
        pytest.param(
            LEAF.certificate + CA.certificate[:-60],
            LEAF.key,
            "OpenSSL cannot load it (BAD_END_LINE)",
            id="chain half written",
        ),
    ],
)
def test_a_pair_that_cannot(certificate: bytes, key: bytes, reason: str) -> None:
    assert load_pair(PairContent(certificate, key), NOW) == Rejected(reason)


@pytest.mark.parametrize(
    ("offset", "accepted"),
    [
        pytest.param(timedelta(minutes=-11), False, id="not yet valid"),
        pytest.param(timedelta(minutes=-10), True, id="just valid"),
        pytest.param(timedelta(days=365), True, id="still valid"),
        pytest.param(timedelta(days=365, seconds=1), False, id="expired"),
    ],
)
def test_the_dates_count(offset: timedelta, *, accepted: bool) -> None:
    loaded = load_pair(PairContent(LEAF.certificate, LEAF.key), NOW + offset)

    assert isinstance(loaded, Rejected) is not accepted


def test_only_modern_ciphers_are_offered() -> None:
    context = new_server_context()
    weak = [
        cipher["name"]
        for cipher in context.get_ciphers()
        if not cipher["aead"] or cipher["kea"] not in {"kx-ecdhe", "kx-any"}
    ]

    assert context.minimum_version is ssl.TLSVersion.TLSv1_2
    assert weak == []
