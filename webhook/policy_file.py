"""The policy file, read again when its content changes.

Content is compared, not file times: that holds for an edit in place, a rename over the file and the
swap of a link by which the kubelet updates a mounted ConfigMap.
"""

from pathlib import Path

from policies.document.loading import load_policy
from policies.document.mistakes import PolicyError
from policies.policy import Policy


class PolicyFileError(Exception):
    """The file cannot be used; the text has one line for each mistake."""


class PolicyUnreadableError(PolicyFileError):
    """The file cannot be read at all; the text names the path and the reason."""


class PolicyFile:
    """A policy file and what was last seen of it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: bytes | str | None = None

    def read_if_changed(self) -> Policy | None:
        """The policy in the file, None when nothing changed since the last call.

        Raises PolicyFileError when the file cannot be read or has mistakes, once for each content.
        """
        try:
            content = self._path.read_bytes()
        except OSError as error:
            reason = error.strerror or str(error)
            if reason == self._seen:
                return None
            self._seen = reason
            raise PolicyUnreadableError(f"{self._path}: cannot be read: {reason}") from error
        if content == self._seen:
            return None
        self._seen = content
        try:
            return load_policy(content, str(self._path))
        except PolicyError as error:
            raise PolicyFileError(str(error)) from error
