"""A real control plane for the tests: etcd and kube-apiserver on 127.0.0.1, with certificates of
its own.

It is the API server as clusters run it (RBAC, Node authorizer, NodeRestriction,
TaintNodesByCondition), less what would need further programs: no controller makes service
accounts, so the ServiceAccount admission plugin is off, and no controller deletes the content of
namespaces, so each test takes a new one.
"""

import contextlib
import http.client
import shutil
import socket
import ssl
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import yaml

from tests.cluster.authority import ClusterAuthority, KeyPair
from tests.cluster.binaries import ClusterBinaries
from tests.cluster.processes import ServerProcess

HOST = "127.0.0.1"
ETCD_LIMIT_SECONDS = 30
API_SERVER_LIMIT_SECONDS = 90


@dataclass(frozen=True, slots=True)
class ControlPlane:
    """A running API server and what a client needs.

    `kubeconfig` is that of a member of system:masters.
    """

    url: str
    kubeconfig: Path
    authority: ClusterAuthority
    binaries: ClusterBinaries
    etcd: ServerProcess
    api_server: ServerProcess
    is_ready: Callable[[], bool]

    @property
    def pids(self) -> tuple[int, ...]:
        """The ids of etcd and kube-apiserver."""
        return (self.etcd.pid, self.api_server.pid)

    @contextlib.contextmanager
    def api_server_away(self) -> Iterator[None]:
        """No API server; afterwards one on the same port and data, which is ready."""
        self.api_server.stop()
        try:
            yield
        finally:
            self.api_server.start_again()
            self.api_server.wait_until(self.is_ready, limit_seconds=API_SERVER_LIMIT_SECONDS)


@contextlib.contextmanager
def running_control_plane(
    binaries: ClusterBinaries, folder: Path, *, api_server_flags: Sequence[str] = ()
) -> Iterator[ControlPlane]:
    """Start etcd and kube-apiserver, their files in the empty `folder`, and end both afterwards.

    `api_server_flags` come after the harness's own, so that of a flag given twice they count.

    Raises StartFailedError, with the end of the log, when one of them does not start.
    """
    authority = ClusterAuthority(folder)
    admin = authority.issue_client("admin", ["system:masters"])
    etcd_port, peer_port, port = free_ports(3)
    etcd_arguments = _etcd_arguments(binaries, folder, etcd_port, peer_port)
    server_arguments = [
        *_api_server_arguments(binaries, authority, port, etcd_port),
        *api_server_flags,
    ]
    url = f"https://{HOST}:{port}"
    with (
        _removed_afterwards(folder / "etcd"),
        running("etcd", etcd_arguments, folder) as etcd,
        running("kube-apiserver", server_arguments, folder) as server,
    ):
        tls = client_context(authority, admin)
        is_ready = partial(answers_ok, port, tls, "/readyz")
        etcd.wait_until(partial(_accepts, etcd_port), limit_seconds=ETCD_LIMIT_SECONDS)
        server.wait_until(is_ready, limit_seconds=API_SERVER_LIMIT_SECONDS)
        yield ControlPlane(
            url=url,
            kubeconfig=write_kubeconfig(folder / "admin.kubeconfig", url, authority, admin),
            authority=authority,
            binaries=binaries,
            etcd=etcd,
            api_server=server,
            is_ready=is_ready,
        )


def write_kubeconfig(path: Path, url: str, authority: ClusterAuthority, client: KeyPair) -> Path:
    """Write a kubeconfig that authenticates with the client certificate."""
    cluster = {"server": url, "certificate-authority": str(authority.certificate_path)}
    user = {"client-certificate": str(client.certificate), "client-key": str(client.key)}
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "test", "cluster": cluster}],
        "users": [{"name": "test", "user": user}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
        "current-context": "test",
    }
    path.write_text(yaml.safe_dump(document))
    return path


@contextlib.contextmanager
def _removed_afterwards(data: Path) -> Iterator[None]:
    """Remove etcd's data, more than 100 MB, which pytest would keep for three sessions."""
    try:
        yield
    finally:
        shutil.rmtree(data, ignore_errors=True)


@contextlib.contextmanager
def running(name: str, arguments: Sequence[str], folder: Path) -> Iterator[ServerProcess]:
    """A server process whose log is in `folder`; it is ended with the context."""
    process = ServerProcess(name, arguments, folder / f"{name}.log")
    try:
        yield process
    finally:
        process.stop()


def _etcd_arguments(
    binaries: ClusterBinaries, folder: Path, client_port: int, peer_port: int
) -> list[str]:
    client_url, peer_url = f"http://{HOST}:{client_port}", f"http://{HOST}:{peer_port}"
    return [
        str(binaries.etcd),
        f"--data-dir={folder / 'etcd'}",
        f"--listen-client-urls={client_url}",
        f"--advertise-client-urls={client_url}",
        f"--listen-peer-urls={peer_url}",
        f"--initial-advertise-peer-urls={peer_url}",
        f"--initial-cluster=default={peer_url}",
        "--unsafe-no-fsync",  # nothing here has to outlive a crash
        "--log-level=warn",
    ]


def _api_server_arguments(
    binaries: ClusterBinaries, authority: ClusterAuthority, port: int, etcd_port: int
) -> list[str]:
    serving = authority.issue_serving("kube-apiserver")
    token_key = authority.write_private_key("service-accounts")
    return [
        str(binaries.kube_apiserver),
        f"--etcd-servers=http://{HOST}:{etcd_port}",
        f"--bind-address={HOST}",
        f"--advertise-address={HOST}",
        f"--secure-port={port}",
        f"--tls-cert-file={serving.certificate}",
        f"--tls-private-key-file={serving.key}",
        f"--client-ca-file={authority.certificate_path}",
        f"--service-account-key-file={token_key}",
        f"--service-account-signing-key-file={token_key}",
        "--service-account-issuer=https://kubernetes.default.svc",
        "--service-cluster-ip-range=10.0.0.0/24",
        "--endpoint-reconciler-type=none",  # it accepts no loopback address
        "--authorization-mode=Node,RBAC",
        "--enable-admission-plugins=NodeRestriction",
        "--disable-admission-plugins=ServiceAccount",
        "--allow-privileged=true",
        "--profiling=false",
    ]


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on now; all are held at once, so that they differ."""
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind((HOST, 0))
        return [one.getsockname()[1] for one in sockets]


def _accepts(port: int) -> bool:
    try:
        socket.create_connection((HOST, port), timeout=1).close()
    except OSError:
        return False
    return True


def client_context(authority: ClusterAuthority, client: KeyPair) -> ssl.SSLContext:
    """TLS as this user, towards servers of this authority."""
    context = ssl.create_default_context(cafile=str(authority.certificate_path))
    context.load_cert_chain(client.certificate, client.key)
    return context


def answers_ok(port: int, tls: ssl.SSLContext, path: str) -> bool:
    """Whether a server on this port answers 200 at this path.

    The API server's /readyz does once the RBAC roles and priority classes exist.
    """
    connection = http.client.HTTPSConnection(HOST, port, timeout=5, context=tls)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
