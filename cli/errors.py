"""What ends a command before it has a verdict."""


class UnusableError(Exception):
    """Flags or input that cannot be used. `lines` are printed one by one, and the exit code is 2."""

    def __init__(self, *lines: str) -> None:
        super().__init__("\n".join(lines))
        self.lines = lines
