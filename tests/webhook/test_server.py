"""The whole server as its own process: TLS, limits, reload, workers and a stop in good order."""

import http.client
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from certs.directory import ensure_serving_certificate
from certs.names import webhook_names
from tests.builders import bare_offline_pod, pod
from tests.webhook.reviews import UID, body, patched, response
from tests.webhook.running import WAIT_SECONDS, RunningServer, is_gone, trusting
from tests.webhook.test_reload import BROKEN, HEAD, PLAIN
from webhook.body import MAX_BODY_BYTES

REFUSING_BODY = body(bare_offline_pod())


def issue(directory: Path) -> Path:
    """A directory with a self-signed certificate."""
    ensure_serving_certificate(directory, webhook_names("mgpu-hybrid-system"), datetime.now(UTC))
    return directory


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("certificates")


@pytest.fixture(scope="module")
def server(certificates: Path) -> Iterator[RunningServer]:
    """One server for all tests that leave it as it was."""
    with RunningServer(self_signed_dir=certificates) as running:
        assert running.urls
        yield running


@pytest.fixture
def stoppable(certificates: Path) -> Iterator[RunningServer]:
    with RunningServer(self_signed_dir=certificates) as running:
        assert running.urls
        yield running


def metric(server: RunningServer, line: str) -> float:
    """The value of the series that begins so; 0 when there is none."""
    for found in server.get("/metrics").text.splitlines():
        if found.startswith(line):
            return float(found.rsplit(" ", 1)[1])
    return 0.0


def test_a_pod_is_judged_as_in_the_cluster(server: RunningServer, certificates: Path) -> None:
    context, raw = trusting(certificates), bare_offline_pod()
    mutated = server.post("mutate", body(raw), context)
    assert mutated.status_code == 200
    assert mutated.headers["content-type"] == "application/json"
    after = patched(raw, mutated.content)
    assert response(server.post("validate", body(after), context).content)["allowed"] is True
    refused = response(server.post("validate", body(raw), context).content)
    assert (refused["uid"], refused["allowed"]) == (UID, False)
    entry = server.log("denied")
    assert (entry["uid"], entry["user"], entry["rules"]) == (UID, "alice", ["injected"])


def test_health_ready_metrics(server: RunningServer) -> None:
    assert server.get("/healthz").text == "ok\n"
    assert (server.get("/readyz").status_code, server.get("/readyz").text) == (200, "ok\n")
    assert metric(server, 'mgpu_hybrid_policy_info{digest="built-in"}') == 1
    assert server.get("/mutate").status_code == 404


def test_a_body_over_the_limit_gets_its_answer(server: RunningServer, certificates: Path) -> None:
    """Also though the client sends it all before it reads."""
    answer = server.post("validate", b" " * (MAX_BODY_BYTES + 1), trusting(certificates))
    assert answer.status_code == 413


def test_bad_bodies_get_400_and_the_connection_lives(
    server: RunningServer, certificates: Path
) -> None:
    connection = server.connect(trusting(certificates))
    for content, status in ((b"{", 400), (REFUSING_BODY, 200), (b"null", 400)):
        connection.request("POST", "/validate", content, {"content-type": "application/json"})
        answer = connection.getresponse()
        assert (answer.status, bool(answer.read())) == (status, True)
    connection.close()


def test_a_chunked_body_is_taken(server: RunningServer, certificates: Path) -> None:
    connection = server.connect(trusting(certificates))
    pieces = [REFUSING_BODY[:10], REFUSING_BODY[10:]]
    headers = {"content-type": "application/json", "transfer-encoding": "chunked"}
    connection.request("POST", "/validate", iter(pieces), headers, encode_chunked=True)
    assert response(connection.getresponse().read())["uid"] == UID
    connection.close()


def test_plain_http_on_the_tls_port_hurts_nobody(server: RunningServer, certificates: Path) -> None:
    with socket.create_connection(server.address, WAIT_SECONDS) as plain:
        plain.sendall(b"GET / HTTP/1.1\r\n\r\n")
        assert b"HTTP/1.1 200" not in plain.recv(1000)
    assert server.post("mutate", body(pod()), trusting(certificates)).status_code == 200


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["TERM", "INT"])
def test_a_signal_stops_it_with_0(stoppable: RunningServer, number: signal.Signals) -> None:
    stoppable.process.send_signal(number)
    assert stoppable.process.wait(WAIT_SECONDS) == 0


def under_way(connection: http.client.HTTPSConnection) -> None:
    """Begin a request; the server's 100 Continue says that its application waits for the body."""
    connection.putrequest("POST", "/validate")
    connection.putheader("content-type", "application/json")
    connection.putheader("content-length", str(len(REFUSING_BODY)))
    connection.putheader("expect", "100-continue")
    connection.endheaders()
    assert connection.sock.recv(1000) == b"HTTP/1.1 100 Continue\r\n\r\n"


def finish(connection: http.client.HTTPSConnection) -> http.client.HTTPResponse:
    connection.send(REFUSING_BODY)
    return connection.getresponse()


def test_a_stop_answers_what_is_under_way_and_closes_the_rest(
    stoppable: RunningServer, certificates: Path
) -> None:
    context = trusting(certificates)
    idle, busy = stoppable.connect(context), stoppable.connect(context)
    idle.request("POST", "/validate", REFUSING_BODY, {"content-type": "application/json"})
    assert idle.getresponse().read()
    under_way(busy)
    stoppable.process.send_signal(signal.SIGTERM)
    assert idle.sock.recv(1000) == b""
    assert stoppable.get("/readyz").status_code == 503
    assert stoppable.get("/readyz").text == "stopping\n"
    with pytest.raises(ConnectionError):
        socket.create_connection(stoppable.address, WAIT_SECONDS)
    answer = finish(busy)
    assert response(answer.read())["uid"] == UID
    assert answer.getheader("connection") == "close"
    assert stoppable.process.wait(WAIT_SECONDS) == 0
    stoppable._reader.join(WAIT_SECONDS)
    assert not any('"error"' in line for line in stoppable.lines)
    idle.close()
    busy.close()


def test_a_body_that_never_comes_does_not_stop_the_stop(
    stoppable: RunningServer, certificates: Path
) -> None:
    connection = stoppable.connect(trusting(certificates))
    under_way(connection)
    stoppable.process.send_signal(signal.SIGTERM)
    assert connection.getresponse().status == 408
    assert stoppable.process.wait(WAIT_SECONDS) == 0
    connection.close()


def test_a_policy_is_reloaded_and_a_broken_one_is_not(certificates: Path, tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text(PLAIN)
    with RunningServer(self_signed_dir=certificates, policy_path=policy) as server:
        assert server.urls
        context = trusting(certificates)
        policy.write_text(BROKEN)
        mistakes = server.log("policy file cannot be used")["mistakes"]
        assert isinstance(mistakes, list)
        assert len(mistakes) == 2
        assert metric(server, "mgpu_hybrid_policy_reload_failures_total") == 1
        assert response(server.post("validate", REFUSING_BODY, context).content)["status"]
        ready = server.get("/readyz")
        assert (ready.status_code, ready.text.count("\n")) == (200, 2)
        policy.write_text(HEAD + "spec: {rules: {injected: Warn}}\n")
        digest = server.log("policy in force")["digest"]
        answer = response(server.post("validate", REFUSING_BODY, context).content)
        assert answer["allowed"] is True
        audit = answer["auditAnnotations"]
        assert isinstance(audit, dict)
        assert (audit["warn"], audit["policy"]) == ("injected", digest)


def test_with_a_policy_that_is_not_valid_it_lives_unready(
    certificates: Path, tmp_path: Path
) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text(BROKEN)
    with RunningServer(self_signed_dir=certificates, policy_path=policy) as server:
        ready = server.get("/readyz")
        assert (ready.status_code, "policy: not valid" in ready.text) == (503, True)
        assert server.get("/healthz").status_code == 200
        answer = server.post("validate", REFUSING_BODY, trusting(certificates))
        assert answer.status_code == 503


def test_a_new_certificate_is_served_while_connections_stay(tmp_path: Path) -> None:
    old_ca, new_ca = issue(tmp_path / "old"), issue(tmp_path / "new")
    tls = shutil.copytree(old_ca, tmp_path / "tls")
    with RunningServer(tls_dir=tls) as running:
        old = running.connect(trusting(old_ca))
        for name in ("tls.crt", "tls.key"):
            shutil.copy(new_ca / name, tls / name)
        running.log("certificate in force")
        assert running.post("mutate", REFUSING_BODY, trusting(new_ca)).status_code == 200
        old.request("POST", "/mutate", REFUSING_BODY, {"content-type": "application/json"})
        assert old.getresponse().status == 200
        old.close()


def test_without_a_certificate_only_health_answers_until_there_is_one(tmp_path: Path) -> None:
    tls = tmp_path / "tls"
    with RunningServer(tls_dir=tls) as running:
        assert "is missing" in str(running.log("certificate cannot be used")["because"])
        issue(tls)
        assert running.post("mutate", REFUSING_BODY, trusting(tls)).status_code == 200


def test_workers_share_the_ports_and_the_metrics_are_summed(certificates: Path) -> None:
    with RunningServer(self_signed_dir=certificates, workers=2) as server:
        assert server.urls
        context = trusting(certificates)
        for _ in range(20):
            assert server.post("validate", REFUSING_BODY, context).status_code == 200
        series = 'mgpu_hybrid_admission_duration_seconds_count{hook="validate"}'
        assert [metric(server, series) for _ in range(10)] == [20.0] * 10
        assert server.stop() == 0


def test_a_worker_that_dies_is_replaced_and_what_it_counted_stays(certificates: Path) -> None:
    with RunningServer(self_signed_dir=certificates, workers=2) as server:
        victims = [int(str(server.log("worker started")["pid"])) for _ in range(2)]
        assert server.urls
        context = trusting(certificates)
        for _ in range(10):
            assert server.post("validate", REFUSING_BODY, context).status_code == 200
        os.kill(victims[0], signal.SIGKILL)
        assert server.log("worker ended")["pid"] == victims[0]
        started = int(str(server.log("worker started")["pid"]))
        assert server.log("worker listening")["pid"] == started
        for _ in range(10):
            assert server.post("validate", REFUSING_BODY, context).status_code == 200
        series = 'mgpu_hybrid_admission_duration_seconds_count{hook="validate"}'
        assert metric(server, series) == 20.0
        assert server.stop() == 0
        assert all(is_gone(pid) for pid in (*victims, started))


def test_the_metrics_directory_is_gone_after_the_stop(
    certificates: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    with RunningServer(self_signed_dir=certificates, workers=2) as server:
        assert server.urls
        assert [path.name[:12] for path in temporary.iterdir()] == ["mgpu-hybrid-"]
        assert server.stop() == 0
    assert list(temporary.iterdir()) == []


def test_workers_end_when_their_parent_is_killed(
    certificates: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with RunningServer(self_signed_dir=certificates, workers=2) as server:
        address = server.address
        assert [path.name[:12] for path in tmp_path.iterdir()] == ["mgpu-hybrid-"]
        server.process.kill()
        server._reader.join(WAIT_SECONDS)
        assert not server._reader.is_alive(), "a worker still holds stderr"
        with pytest.raises(ConnectionError):
            socket.create_connection(address, WAIT_SECONDS)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({}, "either a TLS directory or"),
        ({"tls_dir": "/x", "self_signed_dir": "/y"}, "either a TLS directory or"),
        ({"self_signed_dir": "/x", "workers": 0}, "workers must be at least 1, it is 0"),
        ({"self_signed_dir": "/x", "host": "192.0.2.1"}, "cannot listen on '192.0.2.1'"),
    ],
    ids=["no TLS", "two kinds of TLS", "no workers", "foreign address"],
)
def test_settings_that_cannot_be_used_end_it_with_2(
    settings: dict[str, object], reason: str
) -> None:
    with RunningServer(**settings) as server:
        assert server.process.wait(WAIT_SECONDS) == 2
        server._reader.join(WAIT_SECONDS)
        assert reason in server.lines[0]
        assert len(server.lines) == 1


def test_as_many_files_as_allowed_may_be_open() -> None:
    code = (
        "import resource; from webhook.server import raise_open_file_limit; "
        "resource.setrlimit(resource.RLIMIT_NOFILE, (64, 300)); raise_open_file_limit(); "
        "print(resource.getrlimit(resource.RLIMIT_NOFILE))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "(300, 300)\n"
