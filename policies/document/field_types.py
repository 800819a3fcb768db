"""The field types of the policy document: strings with the grammar each must have.

Kubernetes' grammars come from `names.py`; here are those that only the policy has (versions, patterns,
paths), and the pydantic types made of both. A function returns the text or raises ValueError.
"""

import re
from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator, Field

from policies.document import names
from policies.document.spelling import did_you_mean
from policies.node_selector import is_label_key
from policies.policy import DEFAULT_ACTIONS
from policies.versions import PRE_RELEASE, parse_dotted, parse_vke_version

NATIVE_BURST_SHARE = "native-burst-share"
# Letters of object names, and what fnmatch gives a meaning.
SHELL_PATTERN = re.compile(r"[-a-z0-9.*?\[\]!]{1,253}")
TEMPLATE_PATH = re.compile(
    r"[A-Za-z][A-Za-z0-9_-]*(?:\[\*\])?(?:\.[A-Za-z][A-Za-z0-9_-]*(?:\[\*\])?){0,15}"
)
MAX_TEXT_LENGTH = 253


def kubernetes_gate(text: str) -> str:
    """The least version of one minor, such as `1.28.15-vke.19`."""
    version = parse_vke_version(text)
    if version is None or version.suffix or "+" in text or version.major != 1:
        raise ValueError(
            f"{names.shown(text)} is not a Kubernetes version gate: write it as 1.28.15-vke.19"
        )
    return text


def kubelet_version(text: str) -> str:
    """What a kubelet shows, such as `v1.28.15-vke.19`, or nothing."""
    if text and parse_vke_version(text) is None:
        raise ValueError(
            f"{names.shown(text)} is not a kubelet version: write it as v1.28.15-vke.19"
        )
    return text


def version(text: str) -> str:
    """A dotted version with nothing after it but a pre-release, so that it can be compared."""
    parsed = parse_dotted(text)
    if parsed is None or (parsed.suffix and not PRE_RELEASE.match(parsed.suffix)):
        raise ValueError(
            f"{names.shown(text)} is not a version: two to eight numbers joined by dots, "
            "such as 0.07.35.23 or v0.6.0"
        )
    return text


def optional_version(text: str) -> str:
    """The version of what is installed: any image tag that begins with one, or nothing."""
    if text and parse_dotted(text) is None:
        raise ValueError(
            f"{names.shown(text)} is not a version: two to eight numbers joined by dots, such as "
            "v0.6.0; leave it empty where it is not known"
        )
    return text


def compute_policy(text: str) -> str:
    """A compute policy that can be hybrid."""
    if text == NATIVE_BURST_SHARE:
        raise ValueError(f"{NATIVE_BURST_SHARE} cannot be hybrid: take it out of the list")
    if not text:
        raise ValueError("is empty: write a compute policy, such as guaranteed-burst-share")
    return names.label_value(text)


def text_line(text: str) -> str:
    """A text that names something: not empty, printable, no spaces at its ends."""
    if not text.strip():
        raise ValueError("is empty")
    if text != text.strip() or not text.isprintable() or len(text) > MAX_TEXT_LENGTH:
        raise ValueError(
            f"{names.shown(text)} has spaces at an end, control characters, or more than "
            f"{MAX_TEXT_LENGTH} characters"
        )
    return text


def optional_text_line(text: str) -> str:
    """A printable text, or nothing."""
    return text_line(text) if text else text


def env_value(text: str) -> str:
    """An environment variable's value: no process can be started with a NUL in it."""
    if "\0" in text:
        raise ValueError("holds a NUL character, which no environment variable can")
    return text


def shell_pattern(text: str) -> str:
    """A shell pattern for object names."""
    if not SHELL_PATTERN.fullmatch(text):
        raise ValueError(
            f"{names.shown(text)} can match no object's name: small letters, digits, '-', '.' and "
            "the wildcards * ? [ ]"
        )
    return text


def taint_pattern(text: str) -> str:
    """A taint's key, or its beginning and a `*`."""
    if text == "*":
        raise ValueError("'*' lets every taint pass, so that no taint would count: name them")
    if not is_label_key(f"{text[:-1]}a" if text.endswith("*") else text):
        raise ValueError(
            f"{names.shown(text)} is not a taint's key, nor the beginning of one with a '*' last"
        )
    return text


def template_path(text: str) -> str:
    """Where in an object a pod template stands."""
    if not TEMPLATE_PATH.fullmatch(text):
        raise ValueError(
            f"{names.shown(text)} is not a path: up to 16 field names joined by dots, '[*]' after "
            "a list, such as spec.template or spec.tasks[*].template"
        )
    return text


def rule_id(text: str) -> str:
    """The id of a rule that exists."""
    if text not in DEFAULT_ACTIONS:
        raise ValueError(
            f"there is no rule {names.shown(text)}{did_you_mean(text, DEFAULT_ACTIONS)}"
        )
    return text


T = TypeVar("T")
Items = Annotated[tuple[T, ...], Field(strict=False)]
"""A list. Strict mode would ask for a tuple, which no YAML has; the entries stay strict."""

LabelKey = Annotated[str, AfterValidator(names.label_key)]
OptionalLabelKey = Annotated[str, AfterValidator(names.optional_label_key)]
LabelValue = Annotated[str, AfterValidator(names.label_value)]
AnnotationKey = Annotated[str, AfterValidator(names.annotation_key)]
KeyPrefix = Annotated[str, AfterValidator(names.key_prefix)]
ExtendedResource = Annotated[str, AfterValidator(names.extended_resource)]
Namespace = Annotated[str, AfterValidator(names.dns_label)]
ObjectName = Annotated[str, AfterValidator(names.dns_subdomain)]
OptionalObjectName = Annotated[str, AfterValidator(names.optional_subdomain)]
EnvName = Annotated[str, AfterValidator(names.env_name)]
KindName = Annotated[str, AfterValidator(names.kind_name)]
ResourcePlural = Annotated[str, AfterValidator(names.resource_plural)]
GateText = Annotated[str, AfterValidator(kubernetes_gate)]
KubeletVersion = Annotated[str, AfterValidator(kubelet_version)]
Version = Annotated[str, AfterValidator(version)]
OptionalVersion = Annotated[str, AfterValidator(optional_version)]
ComputePolicy = Annotated[str, AfterValidator(compute_policy)]
TextLine = Annotated[str, AfterValidator(text_line)]
OptionalTextLine = Annotated[str, AfterValidator(optional_text_line)]
EnvValue = Annotated[str, AfterValidator(env_value)]
ShellPattern = Annotated[str, AfterValidator(shell_pattern)]
TaintPattern = Annotated[str, AfterValidator(taint_pattern)]
TemplatePath = Annotated[str, AfterValidator(template_path)]
RuleId = Annotated[str, AfterValidator(rule_id)]
RuleAction = Literal["Deny", "Warn", "Audit", "Off"]
FactAction = Literal["Deny", "Warn", "Audit"]
ErrorOutcome = Literal["Deny", "Allow"]
TaintEffect = Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]
