"""Objects as YAML that people read and Kubernetes reads back as the same value.

PyYAML quotes what YAML 1.1 says is no string; go-yaml has other ideas of some texts (`y`, `1e3`, `0o17`),
so those are quoted here too. Keys keep their order, and texts of several lines stay readable.
"""

from collections.abc import Iterable

import yaml

from policies.manifest.yaml_scalars import resolve_plain
from policies.raw import JsonObject


class _Dumper(yaml.CSafeDumper):
    """libyaml's emitter, without anchors: what an alias repeated is written out."""

    def ignore_aliases(self, _data: object) -> bool:
        return True


def _text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    style = None
    if "\n" in text:
        style = "|"
    elif _is_no_string(text):
        style = "'"
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _is_no_string(text: str) -> bool:
    try:
        return not isinstance(resolve_plain(text), str)
    except ValueError:
        return True


_Dumper.add_representer(str, _text)


def yaml_of(raw: JsonObject) -> str:
    """One object as a YAML document, without `---`."""
    return yaml.dump(raw, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1000)


def yaml_stream(objects: Iterable[JsonObject]) -> str:
    """Objects as the documents of one stream."""
    return "---\n".join(yaml_of(raw) for raw in objects)
