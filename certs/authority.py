"""Makes a certificate authority and the serving certificates it signs.

ECDSA P-256 with SHA-256: every API server's TLS stack takes it, and the handshake is cheap. The
extensions are those RFC 5280 asks for, so `openssl verify -x509_strict` and Go's verifier accept
the result; the certificate's names live in subjectAltName only (Go ignores the common name), and
the common name is fixed, since X.509 ends it at 64 characters and a Service's full name may not.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from certs.errors import CertificateFileError
from certs.names import SERVICE_NAME, ServingNames

CA_LIFETIME = timedelta(days=3650)
LEAF_LIFETIME = timedelta(days=365)

CLOCK_SKEW_ALLOWANCE = timedelta(minutes=10)
"""How far notBefore lies in the past, so that a client whose clock is behind accepts it at once."""

_CA_COMMON_NAME = "mgpu-hybrid webhook CA"

_SigningKey = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey


@dataclass(frozen=True, slots=True)
class IssuedPair:
    """A certificate and its private key, both PEM; the key never shows in the repr."""

    certificate: bytes
    key: bytes = field(repr=False)


def issue_ca(now: datetime) -> IssuedPair:
    """A self-signed authority that may sign leaf certificates only."""
    key = ec.generate_private_key(ec.SECP256R1())
    key_id = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    subject = _common_name(_CA_COMMON_NAME)
    builder = (
        _dated(now, CA_LIFETIME)
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_key_usage(signs_certificates=True), critical=True)
        .add_extension(key_id, critical=False)
        .add_extension(_authority_key_id(key_id), critical=False)
    )
    return _pair(builder.sign(key, hashes.SHA256()), key)


def issue_leaf(ca: IssuedPair, names: ServingNames, now: datetime) -> IssuedPair:
    """A serving certificate for `names`, signed by `ca`, with a key of its own.

    `ca` must have been inspected: a certificate with its matching key. The leaf ends with the CA at
    the latest, since a longer one would be refused after that anyway. Raises CertificateFileError
    when the CA's key is neither elliptic-curve nor RSA.
    """
    issuer = x509.load_pem_x509_certificate(ca.certificate)
    issuer_key = _signing_key(ca.key)
    key = ec.generate_private_key(ec.SECP256R1())
    lifetime = min(LEAF_LIFETIME, issuer.not_valid_after_utc - now)
    builder = (
        _dated(now, lifetime)
        .subject_name(_common_name(SERVICE_NAME))
        .issuer_name(issuer.subject)
        .public_key(key.public_key())
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_key_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(_subject_alternative_name(names), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(_issuer_key_id(issuer, issuer_key), critical=False)
    )
    return _pair(builder.sign(issuer_key, hashes.SHA256()), key)


def _signing_key(pem: bytes) -> _SigningKey:
    key = load_pem_private_key(pem, password=None)
    if isinstance(key, _SigningKey):
        return key
    raise CertificateFileError(
        "a key of this kind is not used to sign certificates",
        where="ca.key",
        remedy="use an elliptic-curve or RSA key, or remove ca.key and ca.crt to get a new CA",
    )


def _common_name(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _dated(now: datetime, lifetime: timedelta) -> x509.CertificateBuilder:
    """A builder with its dates and a random 159-bit serial number; X.509 keeps whole seconds."""
    now = now.replace(microsecond=0)
    return (
        x509.CertificateBuilder()
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - CLOCK_SKEW_ALLOWANCE)
        .not_valid_after(now + lifetime)
    )


def _key_usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _subject_alternative_name(names: ServingNames) -> x509.SubjectAlternativeName:
    dns = [x509.DNSName(name) for name in names.dns]
    addresses = [x509.IPAddress(address) for address in names.addresses]
    return x509.SubjectAlternativeName([*dns, *addresses])


def _authority_key_id(key_id: x509.SubjectKeyIdentifier) -> x509.AuthorityKeyIdentifier:
    return x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(key_id)


def _issuer_key_id(issuer: x509.Certificate, key: _SigningKey) -> x509.AuthorityKeyIdentifier:
    try:
        key_id = issuer.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
    except x509.ExtensionNotFound:
        return x509.AuthorityKeyIdentifier.from_issuer_public_key(key.public_key())
    return _authority_key_id(key_id)


def _pair(certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> IssuedPair:
    return IssuedPair(
        certificate=certificate.public_bytes(Encoding.PEM),
        key=key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()),
    )
