"""A resource claim, named."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Claim:
    """A ResourceClaim or ResourceClaimTemplate; `key` is `claim/<name>` or `template/<name>`."""

    namespace: str
    key: str

    @property
    def is_template(self) -> bool:
        """Whether it is a ResourceClaimTemplate."""
        return self.key.startswith("template/")

    @property
    def name(self) -> str:
        """The object's name."""
        return self.key.partition("/")[2]

    def __str__(self) -> str:
        return f"{self.namespace}/{self.key}"
