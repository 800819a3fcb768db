"""Certificates, inspections and a loopback TLS server for the tests."""

import hashlib
import socket
import socketserver
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import NameOID, ObjectIdentifier

from certs.authority import IssuedPair, issue_ca, issue_leaf
from certs.inspection import Inspection, KeyState
from certs.names import webhook_names

NOW = datetime(2030, 1, 1, 12, tzinfo=UTC)
NAMES = webhook_names("mgpu-system")
TIMEOUT_SECONDS = 20


def sound_ca(**changes: object) -> Inspection:
    """The inspection of a CA that is in its first year of ten."""
    ca = Inspection(
        subject="CN=ca",
        names=webhook_names("unused"),
        not_before=NOW - timedelta(days=300),
        not_after=NOW + timedelta(days=3350),
        is_ca=True,
        server_auth=True,
        key=KeyState.MATCHES,
        signed_by_ca=None,
        fingerprint="00",
        problems=(),
    )
    return replace(ca, **changes)  # type: ignore[arg-type]


def sound_leaf(**changes: object) -> Inspection:
    """The inspection of a serving certificate in the middle of its year."""
    leaf = Inspection(
        subject="CN=leaf",
        names=NAMES,
        not_before=NOW - timedelta(days=100),
        not_after=NOW + timedelta(days=265),
        is_ca=False,
        server_auth=True,
        key=KeyState.MATCHES,
        signed_by_ca=True,
        fingerprint="11",
        problems=(),
    )
    return replace(leaf, **changes)  # type: ignore[arg-type]


def self_signed(
    *extensions: x509.ExtensionType,
    key: ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey | None = None,
    days: int = 1,
) -> IssuedPair:
    """A certificate with exactly these extensions, valid for `days` on either side of NOW."""
    key = key or ec.generate_private_key(ec.SECP256R1())
    algorithm = hashes.SHA256() if isinstance(key, ec.EllipticCurvePrivateKey) else None
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "odd")])
    builder = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(NOW - timedelta(days=days))
        .not_valid_after(NOW + timedelta(days=days))
    )
    for extension in extensions:
        builder = builder.add_extension(extension, critical=False)
    return IssuedPair(
        builder.sign(key, algorithm).public_bytes(Encoding.PEM),
        key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()),
    )


def usage(oid: str) -> x509.ExtendedKeyUsage:
    """An extendedKeyUsage with one purpose."""
    return x509.ExtendedKeyUsage([ObjectIdentifier(oid)])


def encrypted(key: bytes) -> bytes:
    """The same key under a passphrase."""
    return load_pem_private_key(key, password=None).private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"secret")
    )


@dataclass(frozen=True)
class Pki:
    """A CA on disk for the client to trust, and what it signs."""

    ca: IssuedPair
    ca_file: Path

    def leaf(self, now: datetime) -> IssuedPair:
        """A fresh serving certificate issued at `now`."""
        return issue_leaf(self.ca, NAMES, now)


def new_pki(directory: Path, now: datetime) -> Pki:
    """A CA issued at `now`, its certificate written to `directory`."""
    ca = issue_ca(now)
    ca_file = directory / "trusted.crt"
    ca_file.write_bytes(ca.certificate)
    return Pki(ca, ca_file)


def put(directory: Path, pair: IssuedPair) -> tuple[Path, Path]:
    """Write a pair as tls.crt and tls.key and return the two paths."""
    certificate, key = directory / "tls.crt", directory / "tls.key"
    certificate.write_bytes(pair.certificate)
    key.write_bytes(pair.key)
    return certificate, key


def fingerprint(pair: IssuedPair) -> str:
    """SHA-256 of the DER form, in hex, computed by the standard library."""
    return hashlib.sha256(ssl.PEM_cert_to_DER_cert(pair.certificate.decode())).hexdigest()


class _Echo(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        assert isinstance(self.server, _EchoServer)
        self.request.settimeout(TIMEOUT_SECONDS)
        context = self.server.context
        with suppress(OSError), context.wrap_socket(self.request, server_side=True) as connection:
            while data := connection.recv(64):
                connection.sendall(data)


class _EchoServer(socketserver.ThreadingTCPServer):
    def __init__(self, context: ssl.SSLContext) -> None:
        super().__init__(("127.0.0.1", 0), _Echo)
        self.context = context


@contextmanager
def echo_server(context: ssl.SSLContext) -> Iterator[int]:
    """A TLS server on loopback that answers what it hears; yields its port."""
    with _EchoServer(context) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join(TIMEOUT_SECONDS)


def client_context(ca_file: Path) -> ssl.SSLContext:
    """A client that trusts this CA alone and checks by the strict rules of RFC 5280."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(ca_file)
    context.verify_flags |= ssl.VERIFY_X509_STRICT
    return context


@contextmanager
def connect(
    port: int, client: ssl.SSLContext, *, server: str = "localhost"
) -> Iterator[ssl.SSLSocket]:
    """A verified connection to `server` on loopback, by whatever name."""
    with (
        socket.create_connection(("127.0.0.1", port), TIMEOUT_SECONDS) as raw,
        client.wrap_socket(raw, server_hostname=server) as connection,
    ):
        yield connection


def served_fingerprint(port: int, client: ssl.SSLContext) -> str:
    """The fingerprint of the certificate that a new connection is shown."""
    with connect(port, client) as connection:
        return peer_fingerprint(connection)


def peer_fingerprint(connection: ssl.SSLSocket) -> str:
    """The fingerprint of the certificate that this connection was shown."""
    der = connection.getpeercert(binary_form=True)
    assert der is not None
    return hashlib.sha256(der).hexdigest()


def says(connection: ssl.SSLSocket, word: bytes) -> bytes:
    """Send a word and return the answer."""
    connection.sendall(word)
    return connection.recv(len(word))
