import shutil
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from certs.authority import IssuedPair, issue_ca, issue_leaf
from certs.errors import CertificateFileError
from certs.inspection import Inspection, inspect
from certs.names import webhook_names
from tests.certs.builders import NAMES, NOW, self_signed

CA = issue_ca(NOW)
LEAF = issue_leaf(CA, NAMES, NOW)

needs_openssl = pytest.mark.skipif(
    shutil.which("openssl") is None, reason="the openssl program is not installed"
)


def openssl(*arguments: str | Path) -> str:
    done = subprocess.run(
        ["openssl", *arguments], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def parsed(pair: IssuedPair) -> x509.Certificate:
    return x509.load_pem_x509_certificate(pair.certificate)


@pytest.mark.parametrize("pair", [CA, LEAF], ids=["CA", "leaf"])
def test_the_key_is_p_256(pair: IssuedPair) -> None:
    key = load_pem_private_key(pair.key, password=None)

    assert isinstance(key, ec.EllipticCurvePrivateKey)
    assert isinstance(key.curve, ec.SECP256R1)
    assert pair.key.startswith(b"-----BEGIN PRIVATE KEY-----\n")


def test_the_key_does_not_show_in_the_repr() -> None:
    assert "PRIVATE" not in repr(LEAF)


def test_no_two_serial_numbers_are_the_same() -> None:
    pairs = [issue_leaf(CA, NAMES, NOW) for _ in range(20)]

    assert len({parsed(pair).serial_number for pair in [CA, *pairs]}) == 21
    assert all(parsed(pair).serial_number > 0 for pair in pairs)


def test_a_moment_within_a_second_is_cut_to_the_second() -> None:
    leaf = issue_leaf(CA, NAMES, NOW.replace(microsecond=999999))

    assert parsed(leaf).not_valid_before_utc == datetime(2030, 1, 1, 11, 50, tzinfo=UTC)


def test_a_leaf_ends_with_its_ca() -> None:
    late = datetime(2039, 12, 1, tzinfo=UTC)

    assert parsed(issue_leaf(CA, NAMES, late)).not_valid_after_utc == datetime(
        2039, 12, 30, 12, tzinfo=UTC
    )


def test_the_longest_namespace_fits() -> None:
    names = webhook_names("n" * 63)
    found = inspect(issue_leaf(CA, names, NOW).certificate, NOW)

    assert isinstance(found, Inspection)
    assert found.names == names


def foreign_ca(key: rsa.RSAPrivateKey | ed25519.Ed25519PrivateKey) -> IssuedPair:
    """A CA certificate of another kind of key and without a subjectKeyIdentifier."""
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    constraints = x509.BasicConstraints(ca=True, path_length=None)
    return IssuedPair(self_signed(constraints).certificate, pem)


def test_a_ca_of_the_operators_own_with_an_rsa_key_signs() -> None:
    key = rsa.generate_private_key(65537, 2048)
    leaf = parsed(issue_leaf(foreign_ca(key), NAMES, NOW))
    identifier = leaf.extensions.get_extension_for_class(x509.AuthorityKeyIdentifier).value

    assert leaf.signature_algorithm_oid == x509.SignatureAlgorithmOID.RSA_WITH_SHA256
    assert identifier == x509.AuthorityKeyIdentifier.from_issuer_public_key(key.public_key())


def test_a_ca_with_a_key_of_another_kind_is_refused() -> None:
    ca = foreign_ca(ed25519.Ed25519PrivateKey.generate())

    with pytest.raises(CertificateFileError, match="key of this kind"):
        issue_leaf(ca, NAMES, NOW)


@needs_openssl
def test_openssl_accepts_the_leaf_by_the_strict_rules(tmp_path: Path) -> None:
    ca, leaf = tmp_path / "ca.crt", tmp_path / "tls.crt"
    ca.write_bytes(CA.certificate)
    leaf.write_bytes(LEAF.certificate)
    at = str(int((NOW + timedelta(days=1)).timestamp()))
    verify = ("verify", "-x509_strict", "-attime", at, "-CAfile", ca, "-purpose", "sslserver")

    for name in NAMES.dns:
        assert openssl(*verify, "-verify_hostname", name, leaf) == f"{leaf}: OK\n"
    for address in NAMES.addresses:
        assert openssl(*verify, "-verify_ip", str(address), leaf) == f"{leaf}: OK\n"


@needs_openssl
def test_openssl_reads_the_leaf_as_it_was_meant(tmp_path: Path) -> None:
    leaf = tmp_path / "tls.crt"
    leaf.write_bytes(LEAF.certificate)
    lines = [line.strip() for line in openssl("x509", "-in", leaf, "-noout", "-text").splitlines()]

    def after(title: str) -> str:
        return lines[lines.index(title) + 1]

    assert "Version: 3 (0x2)" in lines
    assert "Signature Algorithm: ecdsa-with-SHA256" in lines
    assert "Not Before: Jan  1 11:50:00 2030 GMT" in lines
    assert "Not After : Jan  1 12:00:00 2031 GMT" in lines
    assert "ASN1 OID: prime256v1" in lines
    assert after("X509v3 Basic Constraints: critical") == "CA:FALSE"
    assert after("X509v3 Key Usage: critical") == "Digital Signature"
    assert after("X509v3 Extended Key Usage:") == "TLS Web Server Authentication"
    assert after("X509v3 Subject Alternative Name:") == (
        "DNS:mgpu-hybrid-webhook.mgpu-system.svc, "
        "DNS:mgpu-hybrid-webhook.mgpu-system.svc.cluster.local, "
        "DNS:mgpu-hybrid-webhook.mgpu-system, DNS:mgpu-hybrid-webhook, DNS:localhost, "
        "IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1"
    )


@needs_openssl
def test_openssl_reads_the_ca_as_it_was_meant(tmp_path: Path) -> None:
    ca, leaf = tmp_path / "ca.crt", tmp_path / "tls.crt"
    ca.write_bytes(CA.certificate)
    leaf.write_bytes(LEAF.certificate)
    lines = [line.strip() for line in openssl("x509", "-in", ca, "-noout", "-text").splitlines()]
    leaf_lines = openssl("x509", "-in", leaf, "-noout", "-text").splitlines()
    key_id = lines[lines.index("X509v3 Subject Key Identifier:") + 1]

    assert lines[lines.index("X509v3 Basic Constraints: critical") + 1] == "CA:TRUE, pathlen:0"
    assert lines[lines.index("X509v3 Key Usage: critical") + 1] == "Certificate Sign, CRL Sign"
    assert "Not After : Dec 30 12:00:00 2039 GMT" in lines
    title = leaf_lines.index("            X509v3 Authority Key Identifier: ")
    assert leaf_lines[title + 1].strip() == key_id
