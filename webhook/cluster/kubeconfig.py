"""Kubeconfig files: found and merged as kubectl does, and read so that no message quotes a credential.

The official client merges them too, but lets the last file choose the context where kubectl lets the first,
takes a colon in a file's name for a list, and quotes whole users when a field is missing.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import yaml

from policies.errors import MalformedError
from policies.raw import JsonObject, object_at, objects_at, string_at
from webhook.cluster.errors import ClusterSettingsError

SECTIONS = (("clusters", "cluster"), ("contexts", "context"), ("users", "user"))
FILE_FIELDS = ("certificate-authority", "client-certificate", "client-key", "tokenFile")


def kubeconfig_files(environment: Mapping[str, str]) -> tuple[Path, ...]:
    """The files that kubectl would read without `--kubeconfig`; none where there are none.

    `$KUBECONFIG` is a list, and files in it that do not exist are passed over; else it is `~/.kube/config`.
    """
    listed = environment.get("KUBECONFIG", "")
    if listed:
        paths = [Path(entry) for entry in listed.split(os.pathsep) if entry]
    else:
        paths = [Path(environment.get("HOME", "/"), ".kube", "config")]
    return tuple(path for path in paths if path.exists())


def merged_kubeconfig(paths: Sequence[Path], context: str | None = None) -> JsonObject:
    """One kubeconfig of all these files, with absolute paths in it and the context to use.

    The first file that names an entry or the current context has its way. Raises ClusterSettingsError.
    """
    found: dict[str, dict[str, JsonObject]] = {section: {} for section, _ in SECTIONS}
    current = context or ""
    for path in paths:
        raw = _read(path)
        try:
            current = current or string_at(raw, "current-context", "")
            for section, field in SECTIONS:
                for name, entry in _entries(raw, section, field, path.absolute().parent):
                    found[section].setdefault(name, {"name": name, field: entry})
        except MalformedError as error:
            raise ClusterSettingsError(f"{path}: {error}") from error
    _check(", ".join(map(str, paths)), found, current)
    named = {section: list(entries.values()) for section, entries in found.items()}
    return {**named, "current-context": current}


def _read(path: Path) -> JsonObject:
    try:
        document: object = yaml.safe_load(path.read_bytes())
    except yaml.MarkedYAMLError as error:
        line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        # Without its cause, whose text quotes the file, which holds credentials.
        raise ClusterSettingsError(f"{path}{line}: is not YAML: {error.problem}") from None
    except (OSError, ValueError, yaml.YAMLError) as error:
        words = error.strerror if isinstance(error, OSError) else "it is no text"
        raise ClusterSettingsError(f"{path}: cannot be read: {words}") from None
    except RecursionError:
        raise ClusterSettingsError(f"{path}: is nested too deep for a kubeconfig") from None
    if not isinstance(document, dict):
        raise ClusterSettingsError(f"{path}: is not a kubeconfig: it is empty, or has no fields")
    return document


def _entries(
    raw: JsonObject, section: str, field: str, folder: Path
) -> Iterator[tuple[str, JsonObject]]:
    for index, entry in enumerate(objects_at(raw, section, "")):
        where = f"{section}[{index}]"
        name = string_at(entry, "name", where)
        yield name, _with_absolute_paths(object_at(entry, field, where), f"{where}.{field}", folder)


def _with_absolute_paths(entry: JsonObject, where: str, folder: Path) -> JsonObject:
    """Paths in a kubeconfig are relative to its folder, a plugin's only if they have a slash."""
    changed: dict[str, object] = {}
    for key in FILE_FIELDS:
        text = string_at(entry, key, where)
        if text:
            changed[key] = str(folder / text)
    plugin = object_at(entry, "exec", where)
    command = string_at(plugin, "command", f"{where}.exec")
    if "/" in command:
        changed["exec"] = {**plugin, "command": str(folder / command)}
    return {**entry, **changed}


def _check(where: str, found: Mapping[str, Mapping[str, JsonObject]], current: str) -> None:
    """That the context leads to a server, and that the user whom it names is there."""
    if not current:
        raise ClusterSettingsError(
            f"{where}: has no current-context; name one with --context, or with "
            "`kubectl config use-context`"
        )
    chosen = _chosen(where, found["contexts"], "context", current)
    cluster = _chosen(where, found["clusters"], "cluster", str(chosen.get("cluster") or ""))
    if not str(cluster.get("server") or "").startswith(("https://", "http://")):
        raise ClusterSettingsError(
            f"{where}: the cluster {chosen.get('cluster')!r} needs a server such as https://10.0.0.1:6443"
        )
    if chosen.get("user"):
        user = _chosen(where, found["users"], "user", str(chosen["user"]))
        if user.get("as"):
            # The client would leave it out in silence, and ask with more rights than were meant.
            raise ClusterSettingsError(
                f"{where}: the user {chosen['user']!r} impersonates {user['as']!r}, which is not supported"
            )


def _chosen(where: str, entries: Mapping[str, JsonObject], field: str, name: str) -> JsonObject:
    if name not in entries:
        known = ", ".join(entries) or "none"
        raise ClusterSettingsError(f"{where}: has no {field} named {name!r}; it has: {known}")
    return object_at(entries[name], field, "")
