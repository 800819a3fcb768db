"""The exceptions of the decision core.

Manifests and admission requests are written by others, so a field can hold any JSON type. Parsers
here turn raw decoded JSON into values and say in one exception where it is wrong.
"""


class MalformedError(ValueError):
    """A field has a JSON type that Kubernetes itself would not decode.

    `path` is the field from the object's root, as in `spec.tolerations[0].key`; `message` says what
    was found and what belongs there.
    """

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = path
        self.message = message
