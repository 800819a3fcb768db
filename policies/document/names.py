"""Kubernetes' grammars of names, for texts that an administrator writes into the policy file.

Each function returns the text or raises ValueError with what is wrong and what is allowed. A wrong
name that is found here costs one message; found later, the API server refuses every pod that the
mutation touches. Source: util/validation of k8s.io/apimachinery and core validation of Kubernetes.
"""

import re

from policies.node_selector import DNS_SUBDOMAIN, MAX_PREFIX_LENGTH, is_label_key, is_label_value

LABEL_FORM = "up to 63 letters, digits, '-', '_' and '.', with a letter or digit first and last"
KEY_FORM = f"{LABEL_FORM}, optionally after a DNS name and '/'"
DNS_LABEL = re.compile(r"[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?")
# The strict form. Servers since 1.30 can allow more; those before refuse the pod.
ENV_NAME = re.compile(r"[-._a-zA-Z][-._a-zA-Z0-9]*")
KIND = re.compile(r"[A-Z][A-Za-z0-9]{0,62}")
MAX_SHOWN = 60


def shown(text: str) -> str:
    """A text for a message: quoted, control characters escaped, cut where it is very long."""
    return repr(text if len(text) <= MAX_SHOWN else text[:MAX_SHOWN] + "…")


def label_key(text: str) -> str:
    """A label's or taint's key."""
    if not is_label_key(text):
        raise ValueError(f"{shown(text)} is not a label key: {KEY_FORM}")
    return text


def label_value(text: str) -> str:
    """A label's value, which may be empty."""
    if not is_label_value(text):
        raise ValueError(f"{shown(text)} is not a label value: empty, or {LABEL_FORM}")
    return text


def annotation_key(text: str) -> str:
    """An annotation's key; the API server takes capitals in the prefix, unlike in labels."""
    if not is_label_key(text.lower()):
        raise ValueError(f"{shown(text)} is not an annotation key: {KEY_FORM}")
    return text


def key_prefix(text: str) -> str:
    """The beginning of an annotation's key, to which a container's name is added."""
    if not text or not is_label_key(f"{text}a"):
        raise ValueError(
            f"{shown(text)} is not the beginning of a key that a container's name can complete, "
            "such as example.com/index-"
        )
    return text


def extended_resource(text: str) -> str:
    """An extended resource: a name with a domain that is not Kubernetes' own."""
    native = "/" not in text or "kubernetes.io/" in text
    # Quota writes it as `requests.<name>`, so that must be a key as well.
    if native or text.startswith("requests.") or not is_label_key(f"requests.{text}"):
        raise ValueError(
            f"{shown(text)} is not an extended resource: a domain outside kubernetes.io, "
            f"'/', and a name of {LABEL_FORM}"
        )
    return text


def dns_label(text: str) -> str:
    """A namespace: one DNS label."""
    if not DNS_LABEL.fullmatch(text):
        raise ValueError(
            f"{shown(text)} is not a namespace's exact name: up to 63 small letters, digits and "
            "'-', with a letter or digit first and last; patterns are not allowed"
        )
    return text


def dns_subdomain(text: str) -> str:
    """The name of most cluster objects: DNS labels joined by dots."""
    if len(text) > MAX_PREFIX_LENGTH or not DNS_SUBDOMAIN.fullmatch(text):
        raise ValueError(
            f"{shown(text)} is not an object's name: up to 253 small letters, digits, '-' and '.', "
            "with a letter or digit first and last in each part"
        )
    return text


def optional_subdomain(text: str) -> str:
    """An object's name, or nothing."""
    return dns_subdomain(text) if text else text


def optional_label_key(text: str) -> str:
    """A label's key, or nothing."""
    return label_key(text) if text else text


def env_name(text: str) -> str:
    """An environment variable's name as every supported API server takes it."""
    if not ENV_NAME.fullmatch(text) or text == "." or text.startswith(".."):
        raise ValueError(
            f"{shown(text)} is not an environment variable's name: letters, digits, '_', '-' and "
            "'.', no digit first, not '.' and no '..' at the beginning"
        )
    return text


def kind_name(text: str) -> str:
    """An object kind, such as `PyTorchJob`."""
    if not KIND.fullmatch(text):
        raise ValueError(
            f"{shown(text)} is not a kind: up to 63 letters and digits, with a capital first"
        )
    return text


def resource_plural(text: str) -> str:
    """A resource's plural as it stands in URLs, or nothing."""
    if text and not DNS_LABEL.fullmatch(text):
        raise ValueError(
            f"{shown(text)} is not a resource's plural name: small letters, digits and '-', "
            "such as pytorchjobs"
        )
    return text
