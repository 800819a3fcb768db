"""What the API server does with a patch, and what a patch may touch."""

import json
from collections.abc import Iterable, Sequence

import jsonpatch

from policies.engine import mutate
from policies.pod import parse_pod
from policies.policy import Policy
from tests.properties.fields import Document

POLICY = Policy()
Pointer = tuple[str, ...]


def patch_of(raw: Document, policy: Policy = POLICY) -> list[Document]:
    """The patch for a pod, after a journey as JSON."""
    operations = mutate(parse_pod(raw, policy), policy).patch
    decoded: list[Document] = json.loads(json.dumps(operations))
    return decoded


def patched(raw: Document, policy: Policy = POLICY) -> Document:
    """A copy of the pod with its patch applied by the jsonpatch library, as another would apply it."""
    return apply_patch(raw, patch_of(raw, policy))


def apply_patch(raw: Document, patch: Sequence[Document]) -> Document:
    """A copy of the pod, patched. It is read anew: a generated pod may hold one object in two places."""
    result: Document = jsonpatch.apply_patch(json.loads(json.dumps(raw)), patch)
    return result


def touched(patch: Iterable[Document]) -> set[Pointer]:
    """The places that a patch names; the list itself where an entry is added to it."""
    pointers = set()
    for operation in patch:
        tokens = tuple(
            token.replace("~1", "/").replace("~0", "~")
            for token in str(operation["path"]).split("/")[1:]
        )
        grows = operation["op"] == "add" and (tokens[-1] == "-" or tokens[-1].isdigit())
        pointers.add(tokens[:-1] if grows else tokens)
    return pointers


def without(value: object, pointers: set[Pointer]) -> object:
    """The document less what stands at the pointers."""
    if isinstance(value, dict):
        return {
            key: without(entry, below(pointers, key))
            for key, entry in value.items()
            if (key,) not in pointers
        }
    if isinstance(value, list):
        kept = enumerate(value)
        return [
            without(entry, below(pointers, str(index)))
            for index, entry in kept
            if (str(index),) not in pointers
        ]
    return value


def below(pointers: set[Pointer], token: str) -> set[Pointer]:
    """The rest of those pointers that begin with a token."""
    return {pointer[1:] for pointer in pointers if pointer[:1] == (token,)}
