"""What a running webhook says of itself on its health port, and of a pod."""

import re
from http import HTTPStatus

import httpx

from demo.admission import Admission
from demo.server import RunningServer
from tests.builders import Object

LEADING_ID = re.compile(r"^\[([a-z-]+)\]", re.MULTILINE)


def readyz(server: RunningServer) -> httpx.Response:
    """The answer of `/readyz`."""
    return httpx.get(f"http://127.0.0.1:{server.health_port}/readyz", timeout=30)


def is_ready(server: RunningServer) -> bool:
    """Whether it is ready, and with nothing stale."""
    answer = readyz(server)
    return (answer.status_code, answer.text) == (HTTPStatus.OK, "ok\n")


def rules_against(server: RunningServer, raw: Object) -> set[str]:
    """The ids of the rules that refuse this pod or warn of it, asked straight over HTTPS."""
    return rules_of(server.client.create(raw))


def rules_of(admission: Admission) -> set[str]:
    """The ids in an answer."""
    return set(LEADING_ID.findall("\n".join([admission.message, *admission.warnings])))
