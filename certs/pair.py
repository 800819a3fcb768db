"""Reads a certificate and its key from their files, and judges whether a server may use them.

Both files are read as bytes once, and everything after works on those bytes; what OpenSSL loads
reaches it through files in memory, since Python hands it paths only. So what was judged is what is
served, whatever happens to the files on disk meanwhile.
"""

import hashlib
import os
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from certs.errors import CertificateFileError
from certs.files import read_file
from certs.inspection import Inspection, Unreadable, inspect

_CIPHERS = "ECDHE+AESGCM:ECDHE+CHACHA20"
"""For TLS 1.2: forward secrecy and authenticated encryption only. TLS 1.3 has nothing else."""

_READ_ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class Rejected:
    """A pair that cannot be served, and why. No key material is in the reason."""

    reason: str


@dataclass(frozen=True, slots=True)
class PairContent:
    """What the two files hold; the key never shows in the repr."""

    certificate: bytes
    key: bytes = field(repr=False)

    def digest(self) -> bytes:
        """Tells two contents apart without keeping the key in memory."""
        certificate = hashlib.sha256(self.certificate).digest()
        return certificate + hashlib.sha256(self.key).digest()


def read_pair(certificate: Path, key: Path) -> PairContent | Rejected:
    """Both files as they stand together.

    They change one after the other (or by one swap of a link between the two reads), so they are
    read again until two readings in a row are the same, a few times at most.
    """
    content = _read_once(certificate, key)
    for _ in range(_READ_ATTEMPTS):
        again = _read_once(certificate, key)
        if again == content:
            break
        content = again
    return content


def _read_once(certificate: Path, key: Path) -> PairContent | Rejected:
    contents = []
    for path in (certificate, key):
        try:
            content = read_file(path)
        except CertificateFileError as error:
            return Rejected(f"{path} {error.what}")
        if content is None:
            return Rejected(f"{path} is missing")
        contents.append(content)
    return PairContent(*contents)


def load_pair(content: PairContent, now: datetime) -> tuple[ssl.SSLContext, Inspection] | Rejected:
    """A context of its own for the pair, if a client could accept it at `now`."""
    found = inspect(content.certificate, now, key=content.key)
    if isinstance(found, Unreadable):
        return Rejected(found.reason)
    if found.problems:
        return Rejected("; ".join(found.problems))
    context = new_server_context()
    try:
        with _in_memory(content.certificate) as chain, _in_memory(content.key) as key:
            context.load_cert_chain(chain, key)
    except OSError as error:
        # ssl.SSLError is an OSError; its reason is a name such as KEY_VALUES_MISMATCH.
        return Rejected(f"OpenSSL cannot load it ({getattr(error, 'reason', error.strerror)})")
    return context, found


def new_server_context() -> ssl.SSLContext:
    """TLS 1.2 and later, HTTP/1.1 only, without a certificate.

    No session tickets: a resumed session shows the client no certificate, so one from before a
    renewal would go on with the old one.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers(_CIPHERS)
    context.set_alpn_protocols(["http/1.1"])
    context.options |= ssl.OP_NO_TICKET | ssl.OP_NO_RENEGOTIATION | ssl.OP_NO_COMPRESSION
    context.num_tickets = 0
    return context


@contextmanager
def _in_memory(content: bytes) -> Iterator[str]:
    """A path that leads to `content`, on no disk and to nobody else, while the block runs."""
    with os.fdopen(os.memfd_create("pem", os.MFD_CLOEXEC), "wb") as file:
        file.write(content)
        file.flush()
        yield f"/proc/self/fd/{file.fileno()}"
