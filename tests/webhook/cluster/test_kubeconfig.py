"""Kubeconfig files: which are read, how they are merged, and that nothing in them is told."""

import traceback
from pathlib import Path

import pytest
import yaml

from webhook.cluster.api import KubeApi
from webhook.cluster.errors import ClusterError, ClusterSettingsError
from webhook.cluster.kubeconfig import kubeconfig_files, merged_kubeconfig

SECRET = "very-secret"
NOWHERE = "https://127.0.0.1:1"


def kubeconfig(
    name: str = "a", *, server: object = NOWHERE, user: object = None, current: str | None = None
) -> str:
    """A kubeconfig whose cluster, user and context have the same name."""
    document = {
        "clusters": [{"name": name, "cluster": {"server": server}}],
        "users": [{"name": name, "user": user or {"token": SECRET}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "current-context": name if current is None else current,
    }
    return yaml.safe_dump(document)


def only_user(merged: object) -> object:
    assert isinstance(merged, dict)
    (entry,) = merged["users"]
    return entry["user"]


def servers(merged: object) -> dict[str, str]:
    assert isinstance(merged, dict)
    return {entry["name"]: entry["cluster"]["server"] for entry in merged["clusters"]}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for name in ("one", "two", ".kube/config"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.touch()
    return tmp_path


class TestFiles:
    def test_the_one_at_home(self, home: Path) -> None:
        assert kubeconfig_files({"HOME": str(home)}) == (home / ".kube/config",)

    def test_an_empty_variable_counts_as_none(self, home: Path) -> None:
        environment = {"HOME": str(home), "KUBECONFIG": ""}
        assert kubeconfig_files(environment) == (home / ".kube/config",)

    def test_the_variable_is_a_list_in_which_files_may_be_missing(self, home: Path) -> None:
        listed = f"{home}/two:{home}/missing::{home}/one"
        found = kubeconfig_files({"HOME": str(home), "KUBECONFIG": listed})
        assert found == (home / "two", home / "one")

    def test_a_variable_without_a_file_hides_the_one_at_home(self, home: Path) -> None:
        assert kubeconfig_files({"HOME": str(home), "KUBECONFIG": f"{home}/missing"}) == ()

    def test_none_at_home(self, tmp_path: Path) -> None:
        assert kubeconfig_files({"HOME": str(tmp_path)}) == ()


class TestMerge:
    def test_the_first_file_has_its_way(self, tmp_path: Path) -> None:
        first, second = tmp_path / "first", tmp_path / "second"
        first.write_text(kubeconfig("a", server="https://first"))
        second.write_text(kubeconfig("a", server="https://second", current="b") + "\n")
        merged = merged_kubeconfig((first, second))
        assert servers(merged) == {"a": "https://first"}
        assert merged["current-context"] == "a"

    def test_a_later_file_adds(self, tmp_path: Path) -> None:
        first, second = tmp_path / "first", tmp_path / "second"
        first.write_text(kubeconfig("a", current=""))
        second.write_text(kubeconfig("b", server="https://second"))
        merged = merged_kubeconfig((first, second))
        assert servers(merged) == {"a": NOWHERE, "b": "https://second"}
        assert merged["current-context"] == "b"
        assert merged_kubeconfig((first, second), "a")["current-context"] == "a"

    def test_paths_are_those_of_the_file_that_names_them(self, tmp_path: Path) -> None:
        folder = tmp_path / "folder"
        folder.mkdir()
        user = {
            "client-certificate": "user.crt",
            "client-key": "/absolute/user.key",
            "tokenFile": "../token",
            "exec": {"command": "./plugin", "args": ["./stays"]},
        }
        (folder / "config").write_text(kubeconfig(user=user))
        assert only_user(merged_kubeconfig((folder / "config",))) == {
            "client-certificate": f"{folder}/user.crt",
            "client-key": "/absolute/user.key",
            "tokenFile": f"{folder}/../token",
            "exec": {"command": f"{folder}/plugin", "args": ["./stays"]},
        }

    def test_a_plugin_without_a_slash_is_looked_for_on_path(self, tmp_path: Path) -> None:
        path = tmp_path / "config"
        path.write_text(kubeconfig(user={"exec": {"command": "plugin"}}))
        assert only_user(merged_kubeconfig((path,))) == {"exec": {"command": "plugin"}}

    def test_a_colon_in_a_name_is_part_of_it(self, tmp_path: Path) -> None:
        path = tmp_path / "a:b"
        path.write_text(kubeconfig())
        assert servers(merged_kubeconfig((path,))) == {"a": NOWHERE}


ENTRIES = kubeconfig()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(f"users: [a: b: token: {SECRET}", "line 1: is not YAML", id="no YAML"),
        pytest.param("a: b", "has no current-context; name one", id="another document"),
        pytest.param("", "is empty, or has no fields", id="empty"),
        pytest.param("[]", "is empty, or has no fields", id="a list"),
        pytest.param("\0", "cannot be read: it is no text", id="bytes"),
        pytest.param("[" * 1000, "nested too deep", id="deep"),
        pytest.param("clusters: 5", "clusters: must be a list", id="no list"),
        pytest.param(f"users: [{SECRET}]", r"users\[0\]: must be an object", id="no entry"),
        pytest.param(
            f"users: [{{name: a, user: {SECRET}}}]", r"users\[0\]\.user: must be", id="no user"
        ),
        pytest.param(
            f"users: [{{name: a, user: {{exec: {SECRET}}}}}]", r"\.user\.exec: must", id="no exec"
        ),
        pytest.param("current-context: b", "has no context named 'b'; it has: none", id="context"),
        pytest.param(
            ENTRIES.replace("cluster: a", "cluster: b"),
            "no cluster named 'b'; it has: a",
            id="cluster",
        ),
        pytest.param(
            ENTRIES.replace("    user: a", "    user: b"), "no user named 'b'; it has: a", id="user"
        ),
        pytest.param(
            kubeconfig(user={"as": "eve"}),
            "'a' impersonates 'eve', which is not",
            id="impersonation",
        ),
        pytest.param(kubeconfig(server=None), "'a' needs a server such as", id="no server"),
        pytest.param(kubeconfig(server="10.0.0.1:6443"), "'a' needs a server such", id="no scheme"),
        pytest.param(
            kubeconfig(user={"client-certificate-data": f"{SECRET}!", "client-key-data": "x"}),
            "cannot be used: Incorrect padding",
            id="no base64",
        ),
        pytest.param(
            kubeconfig(user={"client-certificate": "missing"}),
            "File does not exist: .*/missing",
            id="no certificate",
        ),
        pytest.param(kubeconfig(user={"tokenFile": "missing"}), "No such file", id="no token file"),
        pytest.param(
            kubeconfig(user={"username": SECRET, "password": 5}), "cannot be used", id="a number"
        ),
        pytest.param(
            kubeconfig(user={"token": f"{SECRET}\nx: y"}),
            "no HTTP header can carry",
            id="two lines",
        ),
        pytest.param(
            kubeconfig(user={"token": f"{SECRET}\u0416"}), "no HTTP header can carry", id="no ASCII"
        ),
    ],
)
def test_what_cannot_be_used(text: str, message: str, tmp_path: Path) -> None:
    """At the latest with the first request, and without the secret, in the causes too."""
    path = tmp_path / "kubeconfig"
    path.write_text(text)
    with pytest.raises(ClusterSettingsError, match=message) as caught:
        KubeApi.connect(path).server_version()
    assert SECRET not in "".join(traceback.format_exception(caught.value))


def test_a_token_with_its_line_break_is_sent_without_it(tmp_path: Path) -> None:
    (tmp_path / "token").write_text(f"{SECRET}\n")
    path = tmp_path / "kubeconfig"
    path.write_text(kubeconfig(user={"tokenFile": "token"}))
    with pytest.raises(ClusterError, match="Connection refused"):
        KubeApi.connect(path).server_version()


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ClusterSettingsError, match="missing: cannot be read: No such file"):
        KubeApi.connect(tmp_path / "missing")
