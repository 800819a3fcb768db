"""The Dockerfile and what it installs stay true, without a container engine."""

import argparse
import http.client
import os
import re
import signal
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from cli import serve
from demo.admission import AdmissionClient
from policies.rules import RULES
from tests import builders
from tests.dockerfile import Instruction, Stage, read_stages
from tests.installed import IMAGE_UID, ROOT, Installation, as_image_user, build_wheel, installed

PACKAGES = ("certs", "cli", "policies", "webhook")
STOP_SECONDS = 20
SAMPLE = r"""
ARG A=1
FROM x AS y
# not an instruction
COPY --from=z a \
  b /c
FROM w
LABEL k.l="v w" m=n
CMD ["p", "q r"]
"""


@pytest.fixture(scope="module")
def stages() -> tuple[Stage, ...]:
    return read_stages((ROOT / "Dockerfile").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def final(stages: tuple[Stage, ...]) -> Stage:
    return stages[-1]


@pytest.fixture(scope="module")
def project() -> dict[str, object]:
    document = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return cast("dict[str, object]", document["project"])


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installation(wheel: Path) -> Iterator[Installation]:
    with installed(wheel) as result:
        probe = result.run("sh", "-c", f"exec '{sys.executable}' -c 'import orjson'")
        if probe.returncode != 0:
            pytest.skip(f"user {IMAGE_UID} cannot run {sys.executable}: {probe.stderr.strip()}")
        yield result


# The parser that the tests below trust.


def test_reading_a_dockerfile() -> None:
    first, second = read_stages(SAMPLE)

    assert (first.base, first.name, second.base, second.name) == ("x", "y", "w", "")
    assert (first.last("COPY").flags, first.last("COPY").sources) == ({"from": "z"}, ["a", "b"])
    assert second.last("LABEL").assignments == {"k.l": "v w", "m": "n"}
    assert second.last("CMD").words == ["p", "q r"]


# The Dockerfile.


def test_the_final_stage_builds_and_installs_nothing(stages: tuple[Stage, ...]) -> None:
    assert [stage.name for stage in stages] == ["build", ""]
    assert {stage.base for stage in stages} == {"${PYTHON_IMAGE}"}
    commands = [run.arguments for run in stages[-1].all("RUN")]
    assert not re.search(r"\b(pip|apt|apt-get|apk|gcc|make|curl|wget)\b", " ".join(commands))


def test_the_final_stage_takes_files_from_the_build_stage_only(final: Stage) -> None:
    assert [copy.flags.get("from") for copy in final.all("COPY")] == ["build"]


def test_nothing_comes_from_an_address(stages: tuple[Stage, ...]) -> None:
    instructions = [instruction for stage in stages for instruction in stage.instructions]

    assert not [one for one in instructions if one.keyword == "ADD"]
    assert not [one for one in instructions if "://" in one.arguments]


def test_the_build_sees_what_the_wheel_is_made_of_and_no_more(stages: tuple[Stage, ...]) -> None:
    copied = {source for copy in stages[0].all("COPY") for source in copy.sources}
    ignore = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()

    assert copied == {*PACKAGES, "pyproject.toml", "README.md", "LICENSE"}
    assert all((ROOT / source).exists() for source in copied)
    assert {line.removeprefix("!") for line in ignore if line.startswith("!")} == copied
    assert next(line for line in ignore if line.startswith(("!", "*"))) == "*"


def test_the_user_is_numeric_and_not_root(final: Stage) -> None:
    assert [user.arguments for user in final.all("USER")] == [f"{IMAGE_UID}:{IMAGE_UID}"]


def test_the_process_is_the_command_itself(final: Stage, project: dict[str, object]) -> None:
    scripts = cast("dict[str, str]", project["scripts"])

    assert json_form(final.last("ENTRYPOINT")) == ["mgpu-hybrid"]
    assert "mgpu-hybrid" in scripts
    assert final.last("STOPSIGNAL").arguments == "SIGTERM"


def test_the_default_command_serves_on_the_exposed_ports(final: Stage) -> None:
    command, *flags = json_form(final.last("CMD"))
    settings = serve.settings_of(serve_parser().parse_args(flags))

    assert command == "serve"
    assert settings.host == "0.0.0.0"
    assert final.last("EXPOSE").words == [str(settings.port), str(settings.health_port)]
    made = next(run.words for run in final.all("RUN") if "install" in run.words)
    assert made[-1] == str(settings.self_signed_dir)
    assert made[1:-1] == ["-d", "-o", str(IMAGE_UID), "-g", str(IMAGE_UID), "-m", "0700"]


def test_labels_are_the_projects(final: Stage, project: dict[str, object]) -> None:
    defaults = {k: v for arg in final.all("ARG") for k, v in arg.assignments.items()}
    labels = final.last("LABEL").assignments

    assert defaults["VERSION"] == project["version"]
    assert labels["org.opencontainers.image.version"] == "${VERSION}"
    assert labels["org.opencontainers.image.title"] == project["name"]
    assert labels["org.opencontainers.image.licenses"] == project["license"]


# The wheel.


def test_the_wheel_holds_the_packages_whole_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        about = {name.partition("/")[0] for name in archive.namelist()} - set(PACKAGES)
    files = [path for package in PACKAGES for path in (ROOT / package).rglob("*") if path.is_file()]

    assert names == {str(p.relative_to(ROOT)) for p in files if "__pycache__" not in p.parts}
    assert [name.endswith(".dist-info") for name in about] == [True]


def test_the_wheel_holds_the_policy_and_a_page_for_every_rule(wheel: Path) -> None:
    wanted = {"policies/data/default.yaml", *(f"policies/docs/{rule.id}.md" for rule in RULES)}

    assert wanted <= set(zipfile.ZipFile(wheel).namelist())


# The installed wheel, as the image's user, with read-only code.


def test_the_installed_code_is_the_one_that_runs_and_cannot_be_changed(
    installation: Installation,
) -> None:
    probe = (
        "import cli, os, sys; print(cli.__file__, os.getuid(), os.access(cli.__path__[0], os.W_OK))"
    )
    uid = IMAGE_UID if as_image_user() else os.getuid()

    done = installation.run(sys.executable, "-c", probe)

    assert done.stdout.split() == [f"{installation.code}/cli/__init__.py", str(uid), "False"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(["--version"], r"mgpu-hybrid \d+\.\d+\.\d+\n", id="version"),
        pytest.param(["explain", "qos-level"], r"(?s)qos-level.*qos_level", id="explain"),
        pytest.param(["policy", "show"], r"(?s).*kind: HybridPolicy\n", id="policy-show"),
    ],
)
def test_installed_commands(installation: Installation, arguments: list[str], said: str) -> None:
    done = installation.run(installation.program, *arguments)

    assert (done.returncode, done.stderr) == (0, "")
    assert re.match(said, done.stdout)


@pytest.mark.parametrize("workers", [1, 2])
def test_the_installed_server_serves_and_stops(installation: Installation, workers: int) -> None:
    state = installation.state / f"tls-{workers}"
    arguments = ["--self-signed", str(state), "--workers", str(workers)]

    with installation.serve(*arguments) as (process, port, health_port):
        ready = get(health_port, "/readyz")
        admission = AdmissionClient("127.0.0.1", port, state / "ca.crt").create(
            builders.bare_offline_pod()
        )
        process.send_signal(signal.SIGTERM)
        _, log = process.communicate(timeout=STOP_SECONDS)

    assert ready == 200
    assert (admission.allowed, bool(admission.patch)) == (True, True), admission.message
    assert process.returncode == 0, log


def get(port: int, path: str) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("GET", path)
        return connection.getresponse().status
    finally:
        connection.close()


def json_form(instruction: Instruction) -> list[str]:
    assert instruction.arguments.startswith("["), "the shell form starts a shell"
    return instruction.words


def serve_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser()
    serve.configure(parser)
    return parser
