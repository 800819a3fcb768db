"""What a certificate says and what is wrong with it: PEM bytes in, a value out.

Anything may be in the files (a half-written one, another program's, a text), so bytes that are no
certificate are a value too, not an error. Key material never leaves this module: of a key the
result says only whether it fits.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID

from certs.names import ServingNames

_UNPARSABLE = (
    ValueError,
    TypeError,
    UnsupportedAlgorithm,
    x509.DuplicateExtension,
    x509.InvalidVersion,
    x509.UnsupportedGeneralNameType,
)


class KeyState(Enum):
    """How a private key stands to a certificate; the value is the problem in words."""

    MATCHES = "the key matches"
    ABSENT = "the key is missing"
    UNREADABLE = "the key is not a PEM private key without a passphrase"
    MISMATCH = "the key does not belong to the certificate"


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Bytes that hold no certificate, and why in words."""

    reason: str


@dataclass(frozen=True, slots=True)
class Inspection:
    """A certificate (the first in its file) as it was found at one moment.

    Times are UTC with a zone. `signed_by_ca` is None when no CA was given to compare with.
    `fingerprint` is the SHA-256 of the DER form, in hex. `problems` are phrases for a person; empty
    means that a client which trusts the CA would accept it at that moment, names aside.
    """

    subject: str
    names: ServingNames
    not_before: datetime
    not_after: datetime
    is_ca: bool
    server_auth: bool
    key: KeyState
    signed_by_ca: bool | None
    fingerprint: str
    problems: tuple[str, ...]


def inspect(
    certificate: bytes, now: datetime, *, key: bytes | None = None, ca: bytes | None = None
) -> Inspection | Unreadable:
    """Read the first certificate of a PEM file, with its key and its CA where they are given."""
    try:
        parsed = x509.load_pem_x509_certificates(certificate)[0]
        # Fields are parsed when they are asked for, so all are asked for here.
        subject, names = parsed.subject.rfc4514_string(), _names(parsed)
        not_before, not_after = parsed.not_valid_before_utc, parsed.not_valid_after_utc
        is_ca, server_auth = _is_ca(parsed), _server_auth(parsed)
        key_state = _key_state(parsed, key)
    except _UNPARSABLE:
        return Unreadable("not a PEM certificate")
    signed_by_ca = None if ca is None else _is_signed_by(parsed, ca)
    return Inspection(
        subject=subject,
        names=names,
        not_before=not_before,
        not_after=not_after,
        is_ca=is_ca,
        server_auth=server_auth,
        key=key_state,
        signed_by_ca=signed_by_ca,
        fingerprint=parsed.fingerprint(hashes.SHA256()).hex(),
        problems=(
            *_date_problems(not_before, not_after, now),
            *([key_state.value] if key_state is not KeyState.MATCHES else []),
            *(["it is not signed by the CA"] if signed_by_ca is False else []),
            *([] if is_ca else _leaf_problems(names, server_auth=server_auth)),
        ),
    )


def _names(certificate: x509.Certificate) -> ServingNames:
    try:
        found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return ServingNames((), ())
    dns = tuple(name.lower() for name in found.get_values_for_type(x509.DNSName))
    values = found.get_values_for_type(x509.IPAddress)
    # A network is legal in the type (for name constraints) and means nothing in a certificate.
    addresses = tuple(value for value in values if not hasattr(value, "netmask"))
    return ServingNames(dns, addresses)


def _is_ca(certificate: x509.Certificate) -> bool:
    try:
        return certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    except x509.ExtensionNotFound:
        return False


def _server_auth(certificate: x509.Certificate) -> bool:
    try:
        usages = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    except x509.ExtensionNotFound:
        return True
    allowed = {ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE}
    return not allowed.isdisjoint(usages)


def _key_state(certificate: x509.Certificate, key: bytes | None) -> KeyState:
    wanted = certificate.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    if key is None:
        return KeyState.ABSENT
    try:
        public = load_pem_private_key(key, password=None).public_key()
    except (ValueError, TypeError, UnsupportedAlgorithm):
        return KeyState.UNREADABLE
    found = public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return KeyState.MATCHES if found == wanted else KeyState.MISMATCH


def _is_signed_by(certificate: x509.Certificate, ca: bytes) -> bool:
    try:
        issuer = x509.load_pem_x509_certificates(ca)[0]
        certificate.verify_directly_issued_by(issuer)
        return _is_ca(issuer)
    except (*_UNPARSABLE, InvalidSignature):
        return False


def _leaf_problems(names: ServingNames, *, server_auth: bool) -> tuple[str, ...]:
    unnamed = names == ServingNames((), ())
    return (
        *(["it names no server (subjectAltName)"] if unnamed else []),
        *([] if server_auth else ["it is not for servers (extendedKeyUsage)"]),
    )


def _date_problems(not_before: datetime, not_after: datetime, now: datetime) -> tuple[str, ...]:
    if now < not_before:
        return (f"it is not valid before {not_before.isoformat()}",)
    if now > not_after:
        return (f"it expired at {not_after.isoformat()}",)
    return ()
