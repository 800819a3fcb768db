"""How much memory and time the live snapshot of very many nodes takes.

Run: python bench/node_memory.py [--nodes 15000]

A process of its own plays the API server and makes up Node objects of the size of real ones (50 images,
managed fields, heartbeats). The measured process is `mgpu-hybrid serve --kubeconfig` with its real
server, started as a user starts it. Printed are its resident memory, at the moment and at its peak, as Linux
counts them, after the first sync, after heartbeats of all nodes, and after a second whole list.
"""

import argparse
import json
import multiprocessing
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

from node_memory_server import node_bytes, serve

MIB = 1024
LIMIT_SECONDS = 300.0
KUBECONFIG = """\
apiVersion: v1
kind: Config
current-context: bench
contexts: [{{name: bench, context: {{cluster: bench, user: bench}}}}]
clusters: [{{name: bench, cluster: {{server: "http://127.0.0.1:{port}"}}}}]
users: [{{name: bench, user: {{}}}}]
"""


def main() -> int:
    """Measure, print one line per state, and fail when it takes more than it may."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=15_000)
    parser.add_argument("--limit-mib", type=int, default=250)
    options = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    api = context.Process(target=serve, args=(options.nodes, theirs))
    api.start()
    try:
        port = int(ours.recv())
        print(f"nodes: {options.nodes} of {len(node_bytes(7, 1)) / 1000:.1f} KB")
        with tempfile.TemporaryDirectory() as folder:
            peak_mib = measure(Path(folder), port, ours)
    finally:
        api.terminate()
        api.join()
    print(f"peak: {peak_mib} MiB of {options.limit_mib} MiB")
    return 0 if peak_mib <= options.limit_mib else 1


def measure(folder: Path, port: int, api: Connection) -> int:
    """Start the server, take it through its states. Returns the peak of its memory in MiB."""
    kubeconfig = folder / "kubeconfig"
    kubeconfig.write_text(KUBECONFIG.format(port=port))
    command = [
        *(sys.executable, "-m", "cli.main", "serve", "--self-signed", str(folder / "tls")),
        *("--kubeconfig", str(kubeconfig), "--port", "0", "--health-port", "0"),
    ]
    began = time.monotonic()
    with (folder / "log").open("w+") as log:
        server = subprocess.Popen(command, stderr=log, cwd=Path(__file__).parents[1])  # noqa: S603 - our own
        try:
            health = health_url(folder / "log")
            wait_until(lambda: is_ready(health), "the first sync")
            report(server.pid, f"first sync, {time.monotonic() - began:.1f} s after the start")
            api.send("heartbeats")
            api.recv()
            report(server.pid, "after a heartbeat of each node")
            api.send("relist")
            api.recv()
            time.sleep(1.0)
            return report(server.pid, "after a second whole list")
        finally:
            server.terminate()
            server.wait(30)


def report(pid: int, state: str) -> int:
    """Print the resident memory. Returns its peak in MiB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    sizes = {line.split(":")[0]: int(line.split()[1]) // MIB for line in lines if "kB" in line}
    print(f"{state}: {sizes['VmRSS']} MiB resident, peak {sizes['VmHWM']} MiB")
    return sizes["VmHWM"]


def health_url(log: Path) -> str:
    """The address of the health port, from the log line at the start."""
    wait_until(lambda: "webhook listening on" in log.read_text(), "the server listens")
    lines = [line for line in log.read_text().splitlines() if "webhook listening on" in line]
    return str(json.loads(lines[0])["message"]).split()[-1]


def is_ready(health: str) -> bool:
    """Whether `/readyz` says so."""
    try:
        with urllib.request.urlopen(f"{health}/readyz", timeout=30) as answer:  # noqa: S310 - http, loopback
            return bool(answer.status == 200)
    except urllib.error.HTTPError:
        return False


def wait_until(is_so: Callable[[], bool], what: str) -> None:
    """Return once it is so; raises TimeoutError."""
    deadline = time.monotonic() + LIMIT_SECONDS
    while not is_so():
        if time.monotonic() > deadline:
            raise TimeoutError(f"not within {LIMIT_SECONDS:g} s: {what}")
        time.sleep(0.05)


if __name__ == "__main__":
    sys.exit(main())
