"""Plays an API server with very many nodes, each made up when it is asked for."""

import itertools
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection
from urllib.parse import parse_qsl, urlsplit

FIRST_REVISION = 1_000_000
MODELS = ("Tesla-A10", "Tesla-A30", "Tesla-A100", "Tesla-V100")
GONE = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old resource version"}


def node_bytes(number: int, revision: int) -> bytes:
    """A Node object as the API server writes it, of 15 to 20 KB."""
    name = f"10.{number // 65536}.{number // 256 % 256}.{number % 256}"
    heartbeat = f"2026-11-30T10:{revision % 60:02d}:00Z"
    conditions = ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure", "GPUHealthy")
    return json.dumps(
        {
            "metadata": {
                "name": name,
                "uid": f"0b5ba5f2-6c8a-4d7e-9f61-{number:012d}",
                "resourceVersion": str(revision),
                "labels": _labels(number, name),
                "annotations": _annotations(number),
                "managedFields": [_managed(manager) for manager in ("kubelet", "kcm", "agent")],
            },
            "spec": {
                "podCIDR": f"172.16.{number % 256}.0/24",
                "providerID": f"vke://i-{number:020d}",
                "taints": [{"key": "gpu", "value": "true", "effect": "NoSchedule"}],
            },
            "status": {
                "capacity": _amounts(number),
                "allocatable": _amounts(number),
                "conditions": [
                    {
                        "type": kind,
                        "status": "False",
                        "lastHeartbeatTime": heartbeat,
                        "reason": kind * 2,
                    }
                    for kind in conditions
                ],
                "addresses": [{"type": "InternalIP", "address": name}],
                "nodeInfo": {
                    "machineID": f"{number:032x}",
                    "kernelVersion": "5.10.135.bsk.6-amd64",
                    "osImage": "veLinux 1.0 (CentOS Compatible)",
                    "containerRuntimeVersion": "containerd://1.6.38",
                    "kubeletVersion": "v1.30.4-vke.3",
                    "architecture": "amd64",
                },
                "images": [_image(index) for index in range(50)],
            },
        },
        separators=(",", ":"),
    ).encode()


def _labels(number: int, name: str) -> dict[str, str]:
    own = {f"team.example.com/property-{index}": f"value-{index}" for index in range(20)}
    return {
        **own,
        "kubernetes.io/hostname": name,
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": f"ecs.gni{number % 4}.8xlarge",
        "topology.kubernetes.io/region": "cn-beijing",
        "topology.kubernetes.io/zone": f"cn-beijing-{'abc'[number % 3]}",
        "machine.cluster.vke.volcengine.com/gpu-name": MODELS[number % len(MODELS)],
        "machine.cluster.vke.volcengine.com/node-pool": f"pool-{number % 50}",
        "vke.node.gpu.schedule": "mgpu",
        "vke.volcengine.com/mgpu-compute-policy": "guaranteed-burst-share",
    }


def _annotations(number: int) -> dict[str, str]:
    return {
        "mgpu-hybrid.io/driver-version": "0.07.35.23",
        "mgpu-hybrid.io/addon-version": "v0.6.0",
        "csi.volume.kubernetes.io/nodeid": json.dumps(
            {"ebs.csi.volcengine.com": f"i-{number:020d}"}
        ),
        "node.alpha.kubernetes.io/ttl": "30",
        "volumes.kubernetes.io/controller-managed-attach-detach": "true",
    }


def _amounts(number: int) -> dict[str, str]:
    return {
        "cpu": "95690m",
        "memory": f"{760_000_000 + number}Ki",
        "pods": "256",
        "ephemeral-storage": "100Gi",
        "vke.volcengine.com/mgpu-core": "800",
        "vke.volcengine.com/mgpu-memory": "196608",
    }


def _managed(manager: str) -> dict[str, object]:
    fields: dict[str, object] = {
        f"f:property-{index}": {".": {}, "f:lastHeartbeatTime": {}} for index in range(20)
    }
    return {"manager": manager, "operation": "Update", "apiVersion": "v1", "fieldsV1": fields}


def _image(index: int) -> dict[str, object]:
    repository = f"cr-cn-beijing.example.com/team-{index % 7}/inference-service-{index}"
    digest = f"{index:064x}"
    names = [f"{repository}@sha256:{digest}", f"{repository}:v1.{index}.0"]
    return {"names": names, "sizeBytes": 4_000_000_000 + index}


class Api:
    """What the watches send next; `orders` are lines for every watch, None ends it."""

    def __init__(self, nodes: int) -> None:
        self.nodes = nodes
        self.order = ""
        self.done = threading.Event()
        self.changed = threading.Condition()
        self.revisions = itertools.count(FIRST_REVISION)

    def carry_out(self, order: str) -> None:
        """Give an order to the watch, and wait until it is carried out."""
        self.done.clear()
        with self.changed:
            self.order = order
            self.changed.notify_all()
        self.done.wait()

    def watch_lines(self) -> Iterator[bytes]:
        """The events of the one watch."""
        self.on_watch()
        while True:
            with self.changed:
                self.changed.wait_for(lambda: self.order, timeout=20)
                order, self.order = self.order, "relisting" if self.order == "relist" else ""
            if order == "heartbeats":
                yield from (self._event("MODIFIED", number) for number in range(self.nodes))
                self.done.set()
            elif order == "relist":
                yield b'{"type":"ERROR","object":' + json.dumps(GONE).encode() + b"}\n"
                return
            else:
                return

    def on_watch(self) -> None:
        """A watch begins: the list before it is complete."""
        with self.changed:
            if self.order == "relisting":
                self.order = ""
                self.done.set()

    def _event(self, kind: str, number: int) -> bytes:
        raw = node_bytes(number, next(self.revisions))
        return b'{"type":"' + kind.encode() + b'","object":' + raw + b"}\n"


def serve(nodes: int, pipe: Connection) -> None:
    """Serve until the process is ended; sends the port, then takes orders one by one."""
    shared = Api(nodes)

    class Handler(_Handler):
        api = shared

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    pipe.send(server.server_port)
    while True:
        try:
            order = pipe.recv()
        except EOFError:
            return
        shared.carry_out(order)
        pipe.send("done")


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    api: Api

    def do_GET(self) -> None:
        """Answer the version, a page of the list, or a watch."""
        parts = urlsplit(self.path)
        query = dict(parse_qsl(parts.query))
        if parts.path == "/version":
            self._answer(b'{"gitVersion":"v1.30.4-vke.3"}')
        elif parts.path != "/api/v1/nodes":
            self._refuse()
        elif "watch" in query:
            self._watch()
        else:
            self._answer(self._page(int(query.get("continue", "0")), int(query["limit"])))

    def do_POST(self) -> None:
        """Refuse: nobody becomes a leader here, since leading has a memory of its own."""
        self.rfile.read(int(self.headers["Content-Length"]))
        self._refuse()

    def _refuse(self) -> None:
        body = json.dumps({"code": 403, "reason": "Forbidden", "message": "only nodes"}).encode()
        self._answer(body, 403)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as inherited
        """Keep the terminal clean."""

    def _page(self, start: int, limit: int) -> bytes:
        end = min(start + limit, self.api.nodes)
        metadata = {"resourceVersion": str(FIRST_REVISION)}
        if end < self.api.nodes:
            metadata["continue"] = str(end)
        items = b",".join(node_bytes(number, FIRST_REVISION) for number in range(start, end))
        return b'{"metadata":' + json.dumps(metadata).encode() + b',"items":[' + items + b"]}"

    def _answer(self, body: bytes, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _watch(self) -> None:
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for line in itertools.chain(self.api.watch_lines(), [b""]):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
