"""The test cluster's own certificate authority, apart from the product's `certs`, which these
tests judge."""

import datetime as dt
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

OLDER_FORM = serialization.PrivateFormat.TraditionalOpenSSL
LOOPBACK = ipaddress.IPv4Address("127.0.0.1")


@dataclass(frozen=True, slots=True)
class KeyPair:
    """Two PEM files: a certificate and its private key."""

    certificate: Path
    key: Path


class ClusterAuthority:
    """A CA that lives as long as the session and writes its files into one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name("test-cluster-ca", ())
        constraints = x509.BasicConstraints(ca=True, path_length=0)
        self._certificate = (
            self._builder(self._name, self._key.public_key())
            .add_extension(constraints, critical=True)
            .sign(self._key, hashes.SHA256())
        )
        self.certificate_path = folder / "ca.crt"
        self.certificate_path.write_bytes(_certificate_pem(self._certificate))

    def issue_client(self, user: str, groups: Sequence[str] = ()) -> KeyPair:
        """A client certificate: the API server takes the name as the user and `O` as the groups."""
        return self._issue(user, groups, ExtendedKeyUsageOID.CLIENT_AUTH)

    def issue_serving(self, name: str) -> KeyPair:
        """A certificate for a server on 127.0.0.1 and localhost."""
        return self._issue(name, (), ExtendedKeyUsageOID.SERVER_AUTH)

    def write_private_key(self, name: str) -> Path:
        """A bare key, such as service-account tokens are signed with, in the older PEM form.

        For these the API server takes a private key as the public one too, if it is not PKCS#8.
        """
        return self._write(
            name, "key", _key_pem(ec.generate_private_key(ec.SECP256R1()), OLDER_FORM)
        )

    def _issue(self, name: str, groups: Sequence[str], usage: x509.ObjectIdentifier) -> KeyPair:
        key = ec.generate_private_key(ec.SECP256R1())
        builder = self._builder(_name(name, groups), key.public_key()).add_extension(
            x509.ExtendedKeyUsage([usage]), critical=False
        )
        if usage == ExtendedKeyUsageOID.SERVER_AUTH:
            addresses = [x509.IPAddress(LOOPBACK), x509.DNSName("localhost")]
            builder = builder.add_extension(x509.SubjectAlternativeName(addresses), critical=False)
        certificate = builder.sign(self._key, hashes.SHA256())
        return KeyPair(
            certificate=self._write(name, "crt", _certificate_pem(certificate)),
            key=self._write(name, "key", _key_pem(key)),
        )

    def _builder(
        self, subject: x509.Name, public_key: ec.EllipticCurvePublicKey
    ) -> x509.CertificateBuilder:
        now = dt.datetime.now(dt.UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(public_key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - dt.timedelta(minutes=5))
            .not_valid_after(now + dt.timedelta(days=1))
        )

    def _write(self, name: str, ending: str, content: bytes) -> Path:
        path = self._folder / f"{name.replace(':', '-')}.{ending}"
        path.touch(mode=0o600)
        path.write_bytes(content)
        return path


def _name(common_name: str, organizations: Sequence[str]) -> x509.Name:
    attributes = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in organizations]
    return x509.Name([*attributes, x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _certificate_pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _key_pem(
    key: ec.EllipticCurvePrivateKey,
    form: serialization.PrivateFormat = serialization.PrivateFormat.PKCS8,
) -> bytes:
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())
