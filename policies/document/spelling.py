"""The hint under a name that does not exist: most such names are typing mistakes."""

from collections.abc import Iterable
from difflib import get_close_matches

MAX_LENGTH = 100


def did_you_mean(text: str, names: Iterable[str]) -> str:
    """`; did you mean 'x'?` when one of `names` is close to `text`, case aside, else nothing."""
    if len(text) > MAX_LENGTH:
        return ""
    spelled = {_plain(name): name for name in names}
    close = get_close_matches(_plain(text), spelled, n=1, cutoff=0.75)
    return f"; did you mean {spelled[close[0]]!r}?" if close else ""


def _plain(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")
