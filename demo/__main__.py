"""Runs the demo: starts the webhook, shows it one pod after the other, and prints what comes back.

Each pod file says in its first line what it is about and in its second what should become of it; the
demo fails when the webhook answers otherwise.
"""

import difflib
import shutil
import sys
import tempfile
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from demo.admission import Admission, JsonObject
from demo.server import running_server

HERE = Path(__file__).parent
VERSION = "v1.28.15-vke.19"
COLOURS = {"green": "\033[32m", "red": "\033[31m", "yellow": "\033[33m", "bold": "\033[1m"}


@dataclass(frozen=True, slots=True)
class Scene:
    """One pod file: its story, the expected verdict and the pod."""

    path: Path
    story: str
    expected: str
    pod: JsonObject


def main() -> int:
    """The exit code: 0 when every pod got the expected verdict."""
    scenes = [read_scene(path) for path in sorted((HERE / "pods").glob("*.yaml"))]
    with tempfile.TemporaryDirectory(prefix="mgpu-hybrid-demo-") as folder:
        arguments = ["--nodes", str(HERE / "nodes.yaml"), "--kubernetes-version", VERSION]
        with running_server(Path(folder), arguments) as server:
            print(paint("mgpu-hybrid demo", "bold"))
            print(f"webhook: https://127.0.0.1:{server.client.port} with a certificate of its own")
            print(f"control plane: {VERSION}")
            print(f"nodes:   demo/nodes.yaml, pods: demo/pods/ ({len(scenes)})\n")
            admissions = [server.client.create(scene.pod) for scene in scenes]
    for scene, admission in zip(scenes, admissions, strict=True):
        show(scene, admission)
    show_patch(scenes[0], admissions[0])
    return summary(scenes, admissions)


def read_scene(path: Path) -> Scene:
    """The scene in a pod file. Its first two lines are comments: the story, and `expect: VERDICT`."""
    text = path.read_text()
    story, expected = (line.removeprefix("#").strip() for line in text.splitlines()[:2])
    return Scene(path, story, expected.removeprefix("expect:").strip(), yaml.safe_load(text))


def verdict(admission: Admission) -> str:
    """The verdict in one word."""
    if not admission.allowed:
        return "refused"
    return "warned" if admission.warnings else "admitted"


def show(scene: Scene, admission: Admission) -> None:
    """Print one pod with verdict, rules and remedies."""
    word = verdict(admission)
    colour = {"admitted": "green", "warned": "yellow", "refused": "red"}[word]
    patched = f", {len(admission.patch)} changes injected" if admission.patch else ""
    print(f"{paint(word.upper(), colour)}  {paint(scene.path.stem, 'bold')}{patched}")
    print(f"    {scene.story}")
    for line in (*admission.message.splitlines(), *admission.warnings):
        print(wrapped(line))
    print()


def show_patch(scene: Scene, admission: Admission) -> None:
    """Print the JSON patch of one pod as a diff of its YAML."""
    print(paint(f"What was injected into {scene.path.stem}", "bold"))
    before, after = (
        yaml.safe_dump(pod, sort_keys=False).splitlines()
        for pod in (admission.before, admission.after)
    )
    for line in difflib.unified_diff(before, after, "as written", "as admitted", lineterm="", n=2):
        colour = {"+": "green", "-": "red"}.get(line[0], "")
        print("    " + (paint(line, colour) if colour else line))
    print()


def summary(scenes: Sequence[Scene], admissions: Sequence[Admission]) -> int:
    """Print the counts and what was not as expected; the exit code."""
    words = [verdict(admission) for admission in admissions]
    counts = ", ".join(f"{words.count(word)} {word}" for word in ("admitted", "warned", "refused"))
    print(f"{len(words)} pods: {counts}")
    wrong = [
        f"{scene.path.name}: expected {scene.expected}, was {word}"
        for scene, word in zip(scenes, words, strict=True)
        if scene.expected != word
    ]
    for line in wrong:
        print(paint(f"NOT AS EXPECTED: {line}", "red"))
    return 1 if wrong else 0


def wrapped(line: str) -> str:
    """A line as an indented paragraph of the terminal's width."""
    width = min(shutil.get_terminal_size().columns, 110)
    return textwrap.fill(
        line, width, initial_indent="    ", subsequent_indent="      ", break_on_hyphens=False
    )


def paint(text: str, colour: str) -> str:
    """The text in a colour, on a terminal only."""
    if not sys.stdout.isatty():
        return text
    return f"{COLOURS[colour]}{text}\033[0m"


if __name__ == "__main__":
    sys.exit(main())
