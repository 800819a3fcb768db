"""The program as a process: pipes, terminals, exit codes, and what it imports."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cli.main import COMMANDS, main
from tests.cli.manifests import MALFORMED, OFFLINE, PLAIN, TOO_MUCH, documents

Capture = pytest.CaptureFixture[str]
PROGRAM = str(Path(sys.executable).with_name("mgpu-hybrid"))
PLUGIN = str(Path(sys.executable).with_name("kubectl-mgpu"))
TIMEOUT_SECONDS = 60


def run(
    *arguments: str, stdin: str = "", program: str = PROGRAM
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program, *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )


@pytest.mark.parametrize(
    ("content", "code"),
    [(OFFLINE, 0), (TOO_MUCH, 1), (MALFORMED, 2)],
    ids=["clean", "denied", "unusable"],
)
def test_exit_codes_of_the_process(content: str, code: int) -> None:
    done = run("validate", "-f", "-", stdin=content)
    assert done.returncode == code
    assert "Traceback" not in done.stderr


def test_standard_input_has_a_name() -> None:
    assert "<stdin>:1  Pod jobs/greedy" in run("validate", "-f", "-", stdin=TOO_MUCH).stdout
    assert run("validate", "-f", "-", stdin=MALFORMED).stderr.startswith("<stdin>:7: ")


def test_it_is_a_kubectl_plugin_too() -> None:
    assert run("--help", program=PLUGIN).stdout.startswith("usage: kubectl mgpu ")
    assert run("validate", "-f", "-", stdin=OFFLINE, program=PLUGIN).returncode == 0


def test_a_pipe_that_is_closed_early_is_no_error(tmp_path: Path) -> None:
    manifest = tmp_path / "many.yaml"
    manifest.write_text(documents(*[PLAIN] * 3000))
    with subprocess.Popen(
        [PROGRAM, "validate", "-f", str(manifest)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline()
        process.stdout.close()
        error = process.stderr.read()
        process.wait(TIMEOUT_SECONDS)
    assert error == b""
    assert process.returncode == 141


def on_a_terminal(*arguments: str, **environment: str) -> str:
    """What the program writes to a terminal of 60 columns."""
    primary, secondary = pty.openpty()
    variables = {k: v for k, v in os.environ.items() if k not in {"NO_COLOR", "COLUMNS"}}
    variables.update({"TERM": "xterm", "COLUMNS": "60"}, **environment)
    with subprocess.Popen([PROGRAM, *arguments], stdout=secondary, env=variables) as process:
        os.close(secondary)
        chunks = []
        while True:
            try:
                chunk = os.read(primary, 65536)
            except OSError:  # EIO: the last writer has gone
                break
            if not chunk:
                break
            chunks.append(chunk)
        process.wait(TIMEOUT_SECONDS)
    os.close(primary)
    return b"".join(chunks).decode().replace("\r\n", "\n")


def test_a_terminal_gets_colour_and_wrapped_lines(tmp_path: Path) -> None:
    manifest = tmp_path / "pod.yaml"
    manifest.write_text(TOO_MUCH)
    coloured = on_a_terminal("validate", "-f", str(manifest))
    assert "\x1b[31;1mDENIED\x1b[0m" in coloured
    plain = on_a_terminal("validate", "-f", str(manifest), NO_COLOR="1")
    assert "\x1b" not in plain
    findings = [line for line in plain.splitlines() if line.startswith(" " * 10)]
    assert len(findings) > 3
    assert max(len(line) for line in findings if "at:" not in line) <= 60
    assert "\x1b" not in on_a_terminal("validate", "-f", str(manifest), TERM="dumb")
    diff = on_a_terminal("mutate", "-f", str(manifest), "-o", "diff")
    assert "\x1b[32m+" in diff


def test_a_pipe_gets_neither(tmp_path: Path) -> None:
    manifest = tmp_path / "pod.yaml"
    manifest.write_text(TOO_MUCH)
    assert "\x1b" not in run("validate", "-f", str(manifest)).stdout


def test_a_terminal_without_unicode_is_no_error() -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(
        [PROGRAM, "validate", "-f", "-"],
        input=PLAIN.replace("web", "wéb").encode(),
        capture_output=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
        env=environment,
    )
    assert done.returncode == 0
    assert b"w\\xe9b" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "unwanted"),
    [
        pytest.param(
            ["validate", "-f", "pod.yaml"],
            {"pydantic", "jsonpatch", "orjson", "pathlib", "asyncio"},
            id="validate",
        ),
        pytest.param(["mutate", "-f", "pod.yaml"], {"pydantic"}, id="mutate"),
        pytest.param(["validate", "-f", "pod.yaml", "--policy", "p.yaml"], set(), id="--policy"),
        pytest.param(["explain", "node-image"], {"pydantic"}, id="explain"),
        pytest.param(["policy", "show"], {"pydantic"}, id="policy show"),
    ],
)
def test_only_what_is_needed_is_imported(
    arguments: list[str], unwanted: set[str], tmp_path: Path
) -> None:
    (tmp_path / "pod.yaml").write_text(OFFLINE)
    (tmp_path / "p.yaml").write_text(run("policy", "show").stdout)
    script = (
        "import sys, contextlib, io\nfrom cli.main import main\n"
        "with contextlib.redirect_stdout(io.StringIO()):\n"
        f"    code = main({arguments!r})\n"
        "print(code, *sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=True,
        cwd=tmp_path,
    )
    code, *imported = done.stdout.split()
    assert code == "0"
    never = {"fastapi", "starlette", "uvicorn", "kubernetes", "urllib3"}
    never |= {"cryptography", "prometheus_client"}
    assert not (never | unwanted) & set(imported)


def test_version(capsys: Capture) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("mgpu-hybrid 0.")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_examples(command: str, capsys: Capture) -> None:
    assert main([command, "--help"]) == 0
    out = capsys.readouterr().out
    assert f"mgpu-hybrid {command}" in out
    assert "\nexamples:\n" in out
    assert "\nexit codes:" in out


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("validate", "130 interrupted (ctrl-C)"),
        ("serve", "runs unready, and /readyz says why"),
        ("mutate", "for the first 20 objects; -o diff has them all"),
        ("explain", "--policy FILE"),
    ],
)
def test_the_help_says(command: str, words: str, capsys: Capture) -> None:
    assert main([command, "--help"]) == 0
    assert words in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments", [[], ["frobnicate"], ["validate"], ["--frob"]], ids=["none", "word", "-f", "flag"]
)
def test_a_wrong_command_line_is_exit_2(arguments: list[str], capsys: Capture) -> None:
    assert main(arguments) == 2
    assert "usage: mgpu-hybrid" in capsys.readouterr().err


def test_an_interrupt_is_quiet(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    def interrupt(_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("cli.explain.run", interrupt)
    assert main(["explain"]) == 130
    assert capsys.readouterr().err == ""


def test_a_fault_of_ours_is_not_a_verdict(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    def fail(_: object) -> int:
        raise RuntimeError("oh")

    monkeypatch.setattr("cli.explain.run", fail)
    assert main(["explain"]) == 2
    assert "internal error, please report it: RuntimeError: oh" in capsys.readouterr().err


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 10**20) | st.floats(0, 9) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=6,
)
CONTAINER = st.fixed_dictionaries(
    {},
    optional={
        "name": JSON,
        "env": JSON | st.lists(st.fixed_dictionaries({"name": JSON}), max_size=2),
        "resources": JSON
        | st.fixed_dictionaries(
            {"limits": st.dictionaries(st.just("vke.volcengine.com/reclaimed-mgpu-core"), JSON)}
        ),
    },
)
SPEC = st.fixed_dictionaries(
    {},
    optional={
        "containers": JSON | st.lists(JSON | CONTAINER, max_size=2),
        "affinity": JSON | st.fixed_dictionaries({"nodeAffinity": JSON}),
        "tolerations": JSON | st.lists(JSON | st.fixed_dictionaries({"key": JSON}), max_size=2),
        "nodeSelector": JSON,
        "resourceClaims": JSON,
    },
)
OBJECTS = st.fixed_dictionaries(
    {"apiVersion": st.just("v1") | st.just("apps/v1") | JSON, "kind": st.sampled_from(["Pod"])},
    optional={"metadata": JSON | st.fixed_dictionaries({"annotations": JSON}), "spec": JSON | SPEC},
)


def quiet(arguments: list[str], content: bytes, path: Path, capsys: Capture) -> None:
    path.write_bytes(content)
    code = main([*arguments, "-f", str(path)])
    captured = capsys.readouterr()
    assert code in {0, 1, 2}
    assert "internal error" not in captured.err
    assert (code == 2) is (captured.err.startswith(str(path)) and "Pod " not in captured.err)


@pytest.mark.parametrize("command", ["validate", "mutate"])
def test_nothing_makes_it_fall_over(
    command: str, tmp_path_factory: pytest.TempPathFactory, capsys: Capture
) -> None:
    path = tmp_path_factory.mktemp("fuzz") / "any.yaml"

    @settings(max_examples=300, deadline=None)
    @given(st.binary(max_size=100) | OBJECTS.map(json_bytes))
    def check(content: bytes) -> None:
        quiet([command], content, path, capsys)

    check()


def json_bytes(raw: object) -> bytes:
    return json.dumps(raw, ensure_ascii=True).encode()
