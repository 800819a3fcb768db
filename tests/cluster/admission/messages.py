"""What kubectl prints, whole: the text around a refusal or a warning is the API server's and kubectl's."""

from collections.abc import Iterable


def refused(hook: str, *findings: str, doing: str = 'error when creating "STDIN": ') -> str:
    """kubectl's standard error for an object that one of our hooks refused."""
    return (
        f"Error from server (Forbidden): {doing}"
        f'admission webhook "{hook}.mgpu-hybrid.io" denied the request: ' + "\n".join(findings)
    ) + "\n"


def warnings(printed: str) -> list[str]:
    """The warnings among kubectl's standard error, in order."""
    lines = printed.splitlines()
    return [line.removeprefix("Warning: ") for line in lines if line.startswith("Warning: ")]


def joined(printed: str, rule: str) -> str:
    """The warnings of one rule, with what was split into pieces in one."""
    told = [w for w in warnings(printed) if w.startswith(f"[{rule}]")]
    return " ".join(warning.replace(f"[{rule}] … ", "") for warning in told)


def longest(texts: Iterable[str]) -> int:
    """The length of the longest text."""
    return max(map(len, texts))
