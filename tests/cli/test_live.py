"""`--live`: nodes and version of a cluster, and every way in which it can fail, without a traceback."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.main import main
from tests.builders import COMPUTE_POLICY, node
from tests.cli.manifests import OFFLINE, PLAIN
from tests.webhook.cluster.standin import NODES, ApiStandIn, Scripted, refused
from webhook.cluster.api import KubeApi

Capture = pytest.CaptureFixture[str]
TOKEN = "secret-token"
NATIVE = {COMPUTE_POLICY: "native-burst-share"}
WITH_CLAIM = PLAIN.replace(
    "spec: {", "spec: {resourceClaims: [{name: x, resourceClaimTemplateName: t}], "
)


@pytest.fixture
def standin() -> Iterator[ApiStandIn]:
    with ApiStandIn() as running:
        yield running


@pytest.fixture
def config(standin: ApiStandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a kubeconfig that leads to the stand-in; nothing else leads anywhere."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    Path("pod.yaml").write_text(OFFLINE)
    return standin.kubeconfig(tmp_path).name


def run(*flags: str) -> int:
    return main(["validate", "-f", "pod.yaml", "--live", *flags])


def findings(capsys: Capture) -> set[str]:
    document = json.loads(capsys.readouterr().out)
    return {found["rule"] for result in document["results"] for found in result["findings"]}


def one_line(capsys: Capture) -> str:
    """What went to standard error, when nothing else went anywhere."""
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert "Traceback" not in err
    assert TOKEN not in err
    return err


class TestVerdicts:
    def test_good_nodes(self, standin: ApiStandIn, config: str, capsys: Capture) -> None:
        standin.put(node("good"))
        assert run("--kubeconfig", config, "-o", "json") == 0
        assert findings(capsys) == set()

    def test_bad_nodes(self, standin: ApiStandIn, config: str, capsys: Capture) -> None:
        standin.put(node("native", labels=NATIVE))
        assert run("--kubeconfig", config, "-o", "json") == 1
        assert findings(capsys) == {"node-compute-policy"}

    def test_an_old_server(self, standin: ApiStandIn, config: str, capsys: Capture) -> None:
        standin.put(node("good"))
        standin.version = "v1.28.3-vke.1"
        assert run("--kubeconfig", config, "-o", "json") == 1
        assert findings(capsys) == {"cluster-version"}

    def test_the_flag_overrides_the_server(
        self, standin: ApiStandIn, config: str, capsys: Capture
    ) -> None:
        standin.put(node("good"))
        standin.version = "v1.28.3-vke.1"
        flags = ("--kubernetes-version", "v1.28.15-vke.19", "-o", "json")
        assert run("--kubeconfig", config, *flags) == 0
        assert findings(capsys) == set()

    def test_all_pages_count(
        self, standin: ApiStandIn, config: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("cli.live.PAGE_SIZE", 2)
        for number in range(4):
            standin.put(node(f"a-{number}", labels=NATIVE))
        standin.put(node("b-good"))
        assert run("--kubeconfig", config) == 0
        assert [query["limit"] for query in standin.lists] == ["2", "2", "2"]
        assert not standin.watches

    def test_nothing_is_left_unjudged(
        self, standin: ApiStandIn, config: str, capsys: Capture
    ) -> None:
        standin.put(node("good"))
        assert run("--kubeconfig", config) == 0
        assert "not judged" not in capsys.readouterr().out

    def test_mutate_takes_the_flags_too(
        self, standin: ApiStandIn, config: str, capsys: Capture
    ) -> None:
        assert main(["mutate", "-f", "pod.yaml", "--live", "--kubeconfig", config]) == 0
        assert "MGPU_TASK_CLASS" in capsys.readouterr().out
        assert len(standin.lists) == 1


class TestWhere:
    def test_the_variable(
        self, standin: ApiStandIn, config: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("KUBECONFIG", f"missing:{config}")
        assert run() == 0
        assert len(standin.lists) == 1

    def test_the_file_at_home(self, standin: ApiStandIn, config: str, tmp_path: Path) -> None:
        (tmp_path / ".kube").mkdir()
        Path(config).rename(tmp_path / ".kube" / "config")
        assert run() == 0
        assert len(standin.lists) == 1

    @pytest.mark.usefixtures("config")
    def test_nowhere(self, capsys: Capture) -> None:
        assert run() == 2
        assert "no ~/.kube/config, and not in a cluster; name a file" in one_line(capsys)

    @pytest.mark.usefixtures("config")
    def test_a_variable_that_leads_nowhere(
        self, capsys: Capture, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("KUBECONFIG", "missing")
        assert run() == 2
        assert "no file of $KUBECONFIG (missing)" in one_line(capsys)

    @pytest.mark.usefixtures("config")
    def test_in_a_cluster_whose_token_is_not_mounted(
        self, capsys: Capture, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
        monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
        assert run() == 2
        assert "--live: the in-cluster configuration: cannot be used" in one_line(capsys)

    @pytest.mark.usefixtures("config")
    def test_a_file_that_is_not_there(self, capsys: Capture) -> None:
        assert run("--kubeconfig", "missing") == 2
        assert one_line(capsys) == "--live: missing: cannot be read: No such file or directory\n"

    def test_a_context_that_is_not_there(self, config: str, capsys: Capture) -> None:
        assert run("--kubeconfig", config, "--context", "x\x1b[2J") == 2
        assert r"no context named 'x\x1b[2J'; it has: standin" in one_line(capsys)


class TestFlags:
    @pytest.mark.parametrize("flag", ["--kubeconfig", "--context"])
    def test_only_with_live(self, flag: str, config: str, capsys: Capture) -> None:
        assert main(["validate", "-f", "pod.yaml", flag, config]) == 2
        assert one_line(capsys) == f"{flag}: says which cluster to ask, which only --live does\n"

    @pytest.mark.usefixtures("config")
    def test_not_beside_nodes(self, capsys: Capture) -> None:
        assert run("--nodes", "nodes.yaml") == 2
        assert "argument --nodes: not allowed with argument --live" in capsys.readouterr().err


class TestFaults:
    def test_nobody_listens(self, standin: ApiStandIn, config: str, capsys: Capture) -> None:
        standin.go_away()
        assert run("--kubeconfig", config) == 2
        line = one_line(capsys)
        assert line.startswith(f"--live ({config}): GET /version: the connection failed; check")
        assert "127.0.0.1" in line

    def test_forbidden(self, standin: ApiStandIn, config: str, capsys: Capture) -> None:
        words = 'User "eve" cannot list resource "nodes"\nin API group'
        standin.next_lists.append(refused(403, "Forbidden", words))
        assert run("--kubeconfig", config) == 2
        assert one_line(capsys) == (
            f'--live ({config}): GET {NODES}: 403 Forbidden: User "eve" cannot list resource "nodes"'
            "\\nin API group; grant this verb on this resource to the user that the message names\n"
        )

    def test_unauthorized(self, standin: ApiStandIn, config: str, capsys: Capture) -> None:
        standin.next_lists.append(refused(401, "Unauthorized"))
        assert run("--kubeconfig", config) == 2
        assert "check that the token or client certificate is still valid" in one_line(capsys)

    def test_another_program_answers(
        self, standin: ApiStandIn, config: str, capsys: Capture
    ) -> None:
        standin.next_lists.append(Scripted(pieces=[b"<html>"]))
        assert run("--kubeconfig", config) == 2
        assert "check that the address is an API server's" in one_line(capsys)

    @pytest.mark.parametrize(
        "page", [b'{"items": 5}', b'{"items": [5]}', b'{"metadata": [], "items": []}']
    )
    def test_a_list_that_is_none(
        self, page: bytes, standin: ApiStandIn, config: str, capsys: Capture
    ) -> None:
        standin.next_lists.append(Scripted(pieces=[page]))
        assert run("--kubeconfig", config) == 2
        assert "must be" in one_line(capsys)

    def test_a_list_that_grew_too_old_is_read_again(self, standin: ApiStandIn, config: str) -> None:
        standin.put(node("good"))
        standin.next_lists.extend([refused(410, "Expired")] * 2)
        assert run("--kubeconfig", config) == 0
        assert len(standin.lists) == 3

    def test_but_not_for_ever(self, standin: ApiStandIn, config: str, capsys: Capture) -> None:
        standin.next_lists.extend([refused(410, "Expired")] * 3)
        assert run("--kubeconfig", config) == 2
        assert "410 Expired" in one_line(capsys)

    def test_a_node_that_cannot_be_read_is_left_out(
        self, standin: ApiStandIn, config: str, capsys: Capture
    ) -> None:
        standin.put(node("good"))
        bad = node("bad")
        bad["status"] = {"allocatable": 5}
        standin.put(bad)
        assert run("--kubeconfig", config) == 0
        assert capsys.readouterr().err == (
            "note: nodes are left out, since they cannot be read: bad "
            "(status.allocatable: must be an object, is a number)\n"
        )

    def test_claims_on_a_server_without_the_group(self, config: str, capsys: Capture) -> None:
        Path("pod.yaml").write_text(WITH_CLAIM)
        assert run("--kubeconfig", config, "-o", "json") == 0
        out, err = capsys.readouterr()
        assert json.loads(out)["results"][0]["class"] == "none"
        assert err.startswith("note: resource claims count as no GPU, since what they ask for is")
        assert "default/template/t (GET /apis/resource.k8s.io: 404 NotFound" in err
        assert err.count("\n") == 1


def test_a_server_that_never_answers(
    config: str, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time limit is the client's; here it is short."""
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        port = silent.getsockname()[1]
        text = Path(config).read_text()
        start = text.index("http://")
        end = text.index("\n", start)
        Path(config).write_text(f"{text[:start]}http://127.0.0.1:{port}{text[end:]}")
        monkeypatch.setattr(KubeApi.get, "__kwdefaults__", {"timeout_seconds": 0.2})
        assert run("--kubeconfig", config) == 2
    assert "no answer in time" in one_line(capsys)
