"""The one error of everything that reads manifests."""


class ManifestError(ValueError):
    """Input that cannot be used: `source` names the file, `line` counts from 1, 0 = unknown."""

    def __init__(self, source: str, line: int, reason: str) -> None:
        super().__init__(f"{source}:{line}: {reason}" if line else f"{source}: {reason}")
        self.source = source
        self.line = line
        self.reason = reason
