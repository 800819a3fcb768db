"""The server's TLS context, which takes up a new certificate while connections stay open.

The context that the listener holds has no certificate of its own. It hands every connection, at its
ClientHello, to the context of the pair in force: OpenSSL calls the server-name callback for each
handshake, also when the client names no server (a probe by IP address). Loading a new pair into
the listener's own context instead would change it in steps, certificate first: a pair that fails
half-way would leave a listener that answers nobody. Here each pair gets a fresh context, the one
that proved that it loads is the one that goes live, and going live is a single assignment. Open
connections keep the context they began with.

Content is compared, not file times: that holds for renames and for a mounted Secret, which changes
by the swap of a link.
"""

import ssl
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from certs.errors import ServingPairError
from certs.pair import PairContent, Rejected, load_pair, new_server_context, read_pair

_NOTHING_READ = b""


@dataclass(frozen=True, slots=True)
class Unchanged:
    """Nothing new: the files hold what is served, or what was rejected before."""


@dataclass(frozen=True, slots=True)
class Reloaded:
    """A new pair is served from now on; `fingerprint` is SHA-256 in hex, `not_after` is UTC."""

    fingerprint: str
    not_after: datetime


ReloadOutcome = Unchanged | Reloaded | Rejected


@dataclass(frozen=True, slots=True)
class _Live:
    """The pair in force: its context and what identifies it."""

    context: ssl.SSLContext
    digest: bytes
    fingerprint: str
    not_after: datetime


class ServingContext:
    """The TLS context for a listener, and the pair that it serves.

    Takes the paths of the certificate chain (leaf first) and of the key, and the clock to judge
    dates by (a UTC time with a zone). Raises ServingPairError when the pair cannot be served now.
    Give `context` to the server once; call `reload_if_changed` from a timer, in one thread.
    """

    def __init__(self, certificate: Path, key: Path, *, clock: Callable[[], datetime]) -> None:
        self._certificate = certificate
        self._key = key
        self._clock = clock
        self._rejected: tuple[bytes, str] | None = None
        self._live = self._load_first()
        self.context = new_server_context()
        self.context.sni_callback = self._hand_over

    @property
    def not_after(self) -> datetime:
        """When the certificate in force expires, in UTC."""
        return self._live.not_after

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the certificate in force (DER), in hex."""
        return self._live.fingerprint

    def reload_if_changed(self) -> ReloadOutcome:
        """Serve what the files hold now, if it is new and can be served.

        A pair that cannot be served is reported once, and judged again at each call: one that is
        not valid yet becomes so.
        """
        content = read_pair(self._certificate, self._key)
        digest = content.digest() if isinstance(content, PairContent) else _NOTHING_READ
        if digest == self._live.digest:
            self._rejected = None
            return Unchanged()
        loaded = self._load(content)
        if isinstance(loaded, Rejected):
            return self._reject(digest, loaded)
        self._live, self._rejected = loaded, None
        return Reloaded(loaded.fingerprint, loaded.not_after)

    def _reject(self, digest: bytes, rejected: Rejected) -> Unchanged | Rejected:
        if self._rejected == (digest, rejected.reason):
            return Unchanged()
        self._rejected = (digest, rejected.reason)
        return rejected

    def _load_first(self) -> _Live:
        loaded = self._load(read_pair(self._certificate, self._key))
        if isinstance(loaded, _Live):
            return loaded
        raise ServingPairError(
            f"the certificate cannot be served: {loaded.reason}",
            where=self._certificate,
            remedy=f"put a valid certificate there and its key at {self._key}",
        )

    def _load(self, content: PairContent | Rejected) -> _Live | Rejected:
        if isinstance(content, Rejected):
            return content
        loaded = load_pair(content, self._clock())
        if isinstance(loaded, Rejected):
            return loaded
        context, found = loaded
        return _Live(context, content.digest(), found.fingerprint, found.not_after)

    def _hand_over(
        self, connection: ssl.SSLSocket | ssl.SSLObject, _name: str | None, _context: object
    ) -> None:
        connection.context = self._live.context
