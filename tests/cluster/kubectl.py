"""kubectl as a person runs it: arguments and a manifest in, exit code and two texts out."""

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Completed:
    """What a run of kubectl gave; the API server's warnings are on `err`."""

    code: int
    out: str
    err: str


@dataclass(frozen=True, slots=True)
class Kubectl:
    """Runs kubectl against one cluster, with none of the settings of the person who tests."""

    binary: Path
    kubeconfig: Path
    home: Path
    namespace: str = "default"

    def in_namespace(self, namespace: str) -> "Kubectl":
        """The same with another default namespace."""
        return replace(self, namespace=namespace)

    def with_kubeconfig(self, kubeconfig: Path) -> "Kubectl":
        """The same as another user."""
        return replace(self, kubeconfig=kubeconfig)

    def __call__(self, *arguments: str, stdin: str = "", limit_seconds: float = 60) -> Completed:
        """Run it whatever comes out. `stdin` may be YAML or JSON for `-f -`."""
        # -n comes first, so that one among the arguments replaces it.
        done = subprocess.run(
            [self.binary, f"--namespace={self.namespace}", *arguments],
            input=stdin,
            env=self._environment(),
            cwd=self.home,
            capture_output=True,
            text=True,
            timeout=limit_seconds,
            check=False,
        )
        return Completed(code=done.returncode, out=done.stdout, err=done.stderr)

    def succeed(self, *arguments: str, stdin: str = "") -> Completed:
        """Run it and fail the test, with kubectl's own words, unless it exits 0."""
        done = self(*arguments, stdin=stdin)
        assert done.code == 0, f"kubectl {' '.join(arguments)}: exit {done.code}\n{done.err}"
        return done

    def read(self, *arguments: str) -> dict[str, object]:
        """Run a `get` and return the object."""
        document: object = json.loads(self.succeed(*arguments, "-o", "json").out)
        assert isinstance(document, dict)
        return document

    def _environment(self) -> Mapping[str, str]:
        return {
            "HOME": str(self.home),
            "KUBECONFIG": str(self.kubeconfig),
            "KUBECACHEDIR": str(self.home / "kubectl-cache"),
            "PATH": "/usr/bin:/bin",
        }
