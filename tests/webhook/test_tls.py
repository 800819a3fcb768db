"""The serving certificate: made, loaded late, renewed, and never lost for a broken file."""

import shutil
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from webhook.metrics import Metrics
from webhook.readiness import Readiness
from webhook.settings import ServeSettings
from webhook.tls import ServingCertificate

START = datetime(2026, 1, 1, tzinfo=UTC)


class Clock:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now


class Process:
    """A serving certificate with what it reports to."""

    def __init__(self, settings: ServeSettings) -> None:
        self.clock = Clock()
        self.readiness = Readiness()
        self.registry = CollectorRegistry()
        self.certificate = ServingCertificate(
            settings, self.readiness, Metrics(self.registry), self.clock
        )

    def tick(self) -> ssl.SSLContext | None:
        self.certificate.tick()
        return self.certificate.context

    @property
    def expiry(self) -> float:
        name = "mgpu_hybrid_certificate_expiry_timestamp_seconds"
        return self.registry.get_sample_value(name) or 0.0


@pytest.fixture
def issued(tmp_path: Path) -> Path:
    directory = tmp_path / "issued"
    Process(ServeSettings(self_signed_dir=directory)).certificate.tick()
    return directory


def test_a_self_signed_certificate_is_made(tmp_path: Path) -> None:
    process = Process(ServeSettings(self_signed_dir=tmp_path / "new"))
    assert process.certificate.context is None
    assert process.tick() is not None
    assert process.readiness.certificate == ""
    assert process.expiry > START.timestamp()
    assert (tmp_path / "new" / "ca.crt").exists()


def warnings(caplog: pytest.LogCaptureFixture) -> list[object]:
    """Why a new authority was made, as it was warned of."""
    found = [record for record in caplog.records if record.levelname == "WARNING"]
    assert all("a new certificate authority was made" in record.message for record in found)
    return [record.__dict__["fields"]["because"] for record in found]


@pytest.mark.parametrize("name", ["ca.key", "ca.crt"])
def test_an_authority_that_is_replaced_is_warned_of(
    name: str, issued: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (issued / name).write_text("garbage")
    Process(ServeSettings(self_signed_dir=issued)).certificate.tick()
    (because,) = warnings(caplog)
    assert str(because).startswith(f"{name}: ")


def test_a_first_authority_and_a_new_leaf_are_no_warning(
    issued: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (issued / "tls.crt").write_text("garbage")
    Process(ServeSettings(self_signed_dir=issued)).certificate.tick()
    Process(ServeSettings(self_signed_dir=issued / "first")).certificate.tick()
    assert warnings(caplog) == []


def test_a_self_signed_certificate_is_renewed_in_time(tmp_path: Path) -> None:
    process = Process(ServeSettings(self_signed_dir=tmp_path))
    context = process.tick()
    first = process.expiry
    process.clock.now = datetime.fromtimestamp(first, UTC) - timedelta(hours=1)
    assert process.tick() is context
    assert process.expiry > first
    assert process.readiness.certificate == ""


def test_a_secret_that_is_filled_late_is_taken_up(tmp_path: Path, issued: Path) -> None:
    directory = tmp_path / "tls"
    process = Process(ServeSettings(tls_dir=directory))
    assert process.tick() is None
    assert "tls.crt is missing" in process.readiness.certificate
    shutil.copytree(issued, directory)
    assert process.tick() is not None
    assert process.readiness.certificate == ""


def test_a_broken_file_keeps_what_is_served(tmp_path: Path, issued: Path) -> None:
    process = Process(ServeSettings(tls_dir=issued))
    context = process.tick()
    (issued / "tls.crt").write_text("broken")
    assert process.tick() is context
    assert process.readiness.certificate == ""
    (stale,) = process.readiness.stale
    assert stale.startswith("serving certificate: the last good one")
    Process(ServeSettings(self_signed_dir=tmp_path / "next")).tick()
    for name in ("tls.crt", "tls.key"):
        shutil.copy(tmp_path / "next" / name, issued / name)
    process.tick()
    assert not process.readiness.stale


def test_an_expired_certificate_makes_unready(issued: Path) -> None:
    process = Process(ServeSettings(tls_dir=issued))
    process.certificate.tick()
    process.clock.now = datetime.fromtimestamp(process.expiry, UTC)
    process.certificate.tick()
    assert process.readiness.certificate.startswith("serving certificate: expired at ")


def test_a_directory_that_cannot_be_written_is_said_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    process = Process(ServeSettings(self_signed_dir=tmp_path / "file" / "certs"))
    process.certificate.tick()
    process.certificate.tick()
    assert "cannot be made" in process.readiness.certificate
    assert len(caplog.records) == 1
