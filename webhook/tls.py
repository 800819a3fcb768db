"""The serving certificate from the directory that the settings name, kept in step with its files.

A missing or unusable certificate at the start does not end the process: a Secret can be filled late, and
`/readyz` says what is wrong meanwhile. The port is opened once there is a certificate.
"""

import logging
import ssl
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from certs.directory import ServingFiles, ensure_serving_certificate
from certs.errors import CertificateError
from certs.names import webhook_names
from certs.pair import Rejected
from certs.plan import Due
from certs.serving import Reloaded, ServingContext
from policies.policy import Policy
from webhook.metrics import Metrics
from webhook.readiness import Readiness
from webhook.settings import ServeSettings

logger = logging.getLogger(__name__)

RENEWAL_CHECK = timedelta(minutes=10)


def now_utc() -> datetime:
    """The wall clock, by which certificates are valid or not."""
    return datetime.now(UTC)


class ServingCertificate:
    """The TLS context of the listener; `context` is None until a certificate could be loaded."""

    def __init__(
        self,
        settings: ServeSettings,
        readiness: Readiness,
        metrics: Metrics,
        clock: Callable[[], datetime] = now_utc,
    ) -> None:
        self._tls_dir = settings.tls_dir
        self._self_signed_dir = settings.self_signed_dir
        self._readiness = readiness
        self._metrics = metrics
        self._clock = clock
        self._serving: ServingContext | None = None
        self._renewal_due = clock()

    @property
    def context(self) -> ssl.SSLContext | None:
        """What the listener is given; it takes up new certificates by itself."""
        return self._serving.context if self._serving is not None else None

    def tick(self) -> None:
        """Load the certificate, take up a changed one, and renew one of our own in time."""
        try:
            self._renew()
            if self._serving is None:
                self._serving = self._load()
                self._report(self._serving)
            else:
                self._reload(self._serving)
        except CertificateError as error:
            self._on_error(error)

    def _renew(self) -> None:
        now = self._clock()
        if self._self_signed_dir is None or now < self._renewal_due:
            return
        names = webhook_names(Policy().webhook_namespace)
        files = ensure_serving_certificate(self._self_signed_dir, names, now)
        self._renewal_due = now + RENEWAL_CHECK
        _tell(files)

    def _load(self) -> ServingContext:
        directory = self._self_signed_dir or self._tls_dir or Path()
        return ServingContext(directory / "tls.crt", directory / "tls.key", clock=self._clock)

    def _reload(self, serving: ServingContext) -> None:
        outcome = serving.reload_if_changed()
        if isinstance(outcome, Reloaded):
            self._report(serving)
        elif isinstance(outcome, Rejected):
            self._readiness.stale_certificate = (
                f"serving certificate: the last good one, the new files cannot be used: "
                f"{outcome.reason}"
            )
            logger.error("certificate rejected", extra={"fields": {"because": outcome.reason}})
        if serving.not_after <= self._clock():
            self._readiness.certificate = f"serving certificate: expired at {serving.not_after}"

    def _report(self, serving: ServingContext) -> None:
        self._readiness.certificate = self._readiness.stale_certificate = ""
        self._metrics.certificate_expiry.set(serving.not_after.timestamp())
        fields = {"sha256": serving.fingerprint, "not_after": serving.not_after.isoformat()}
        logger.info("certificate in force", extra={"fields": fields})

    def _on_error(self, error: CertificateError) -> None:
        """Say a fault once; while something is served, only its own expiry makes unready."""
        text = f"serving certificate: {error}"
        if text in (self._readiness.certificate, self._readiness.stale_certificate):
            return
        if self._serving is None:
            self._readiness.certificate = text
        else:
            self._readiness.stale_certificate = text
        logger.error("certificate cannot be used", extra={"fields": {"because": str(error)}})


def _tell(files: ServingFiles) -> None:
    """Log what was done; whoever trusts an authority that was replaced has to act."""
    fields = {"ca": str(files.ca), "done": files.done.name, "because": files.reason}
    if files.done is not Due.CA_AND_LEAF or not files.kept_aside:
        logger.info("self-signed certificate checked", extra={"fields": fields})
        return
    fields["kept_aside"] = ", ".join(str(path) for path in files.kept_aside)
    logger.warning(
        "a new certificate authority was made: register the webhook anew with the new ca.crt",
        extra={"fields": fields},
    )
