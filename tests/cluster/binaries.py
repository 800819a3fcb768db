"""Where the cluster tests find etcd, kube-apiserver, kubectl, kube-scheduler and kubemark.

Three ways, in this order: the folder that `KUBEBUILDER_ASSETS` names, `PATH`, a build with Go. A
way counts only when it has every required binary: a set put together from two sources would test
versions that nobody runs together. `python -m tests.cluster.binaries` does the same by hand and
prints what it found.
"""

import os
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.go_build import BuildFailedError, built_binaries

REQUIRED = ("etcd", "kube-apiserver", "kubectl")
OPTIONAL = ("kube-scheduler", "kubemark")  # envtest's archives leave them out


class BinariesUnavailableError(Exception):
    """None of the ways led to a complete set; the message has one reason per way."""


@dataclass(frozen=True, slots=True)
class ClusterBinaries:
    """A complete set from one source; the optional ones are None where that source has none.

    kubemark holds the hollow kubelet: the kubelet's own code over a runtime that only pretends.
    """

    etcd: Path
    kube_apiserver: Path
    kubectl: Path
    kube_scheduler: Path | None
    kubemark: Path | None
    source: str


def find_binaries(environment: Mapping[str, str], report: Callable[[str], None]) -> ClusterBinaries:
    """Return the first complete set; `report` gets one line per step of a build.

    Raises BinariesUnavailableError when no way leads to a complete set.
    """
    reasons = []
    assets = environment.get("KUBEBUILDER_ASSETS", "")
    path = environment.get("PATH", "")
    for source, folders in (("KUBEBUILDER_ASSETS", assets), ("PATH", path)):
        if not folders:
            reasons.append(f"{source} is not set")
            continue
        found = _find_on(folders)
        missing = [name for name in REQUIRED if name not in found]
        if not missing:
            return _complete(found, source=source)
        reasons.append(f"{source} has no {', '.join(missing)}")
        if source == "KUBEBUILDER_ASSETS":
            report(f"KUBEBUILDER_ASSETS={folders} has no {', '.join(missing)}: not used")
    try:
        folder = built_binaries(environment, report)
    except BuildFailedError as error:
        reasons.append(f"no build with Go: {error}")
        raise BinariesUnavailableError("; ".join(reasons)) from error
    return _complete(_find_on(str(folder)), source=f"built with Go in {folder}")


def _find_on(folders: str) -> dict[str, Path]:
    """Find executables on a search path in PATH's form."""
    hits = {name: shutil.which(name, path=folders) for name in (*REQUIRED, *OPTIONAL)}
    return {name: Path(hit) for name, hit in hits.items() if hit}


def _complete(found: Mapping[str, Path], *, source: str) -> ClusterBinaries:
    return ClusterBinaries(
        etcd=found["etcd"],
        kube_apiserver=found["kube-apiserver"],
        kubectl=found["kubectl"],
        kube_scheduler=found.get("kube-scheduler"),
        kubemark=found.get("kubemark"),
        source=source,
    )


def main() -> int:
    """Print the set that the tests would use, building it if need be; 1 when there is none."""
    try:
        binaries = find_binaries(os.environ, lambda line: print(line, file=sys.stderr))  # noqa: T201
    except BinariesUnavailableError as error:
        sys.stderr.write(f"no cluster binaries: {error}\n")
        return 1
    sys.stdout.write(f"source: {binaries.source}\n")
    for name in (*REQUIRED, *OPTIONAL):
        path = getattr(binaries, name.replace("-", "_"))
        sys.stdout.write(f"{name}: {path or 'none'}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
