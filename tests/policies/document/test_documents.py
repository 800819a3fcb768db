"""One valid policy file, one change, and the exact mistake; the just-allowed values beside them."""

from importlib.resources import files

import pytest
import yaml

from policies.document.documents import HybridPolicy
from policies.document.loading import load_policy
from policies.document.mistakes import PolicyError
from policies.document.policy_document import policy_document
from policies.policy import Policy

HEADER = "apiVersion: mgpu-hybrid.io/v1alpha1\nkind: HybridPolicy\nspec:\n"


def mistakes(spec: str) -> list[tuple[int, str, str]]:
    """(line within the spec, field within the spec, message) of every mistake."""
    with pytest.raises(PolicyError) as caught:
        load_policy(HEADER + spec, "policy.yaml")
    return [
        (mistake.line - 3, mistake.field.removeprefix("spec."), mistake.message)
        for mistake in caught.value.mistakes
    ]


CASES = [
    # Names of fields, and their types.
    ("  kyes: {}", 1, "kyes", "there is no such field; did you mean 'keys'?"),
    (
        "  keys:\n    qos_level: a",
        2,
        "keys.qos_level",
        "there is no such field; did you mean 'qosLevel'?",
    ),
    (
        "  onRuleError: {zzz: Deny}",
        1,
        "onRuleError.zzz",
        "there is no such field; there are offline, others",
    ),
    (
        "  exemptions: [{namespace: [a], namespaces: [a]}]",
        1,
        "exemptions[0].namespace",
        "there is no such field; did you mean 'namespaces'?",
    ),
    ("  keys: [a]", 1, "keys", "must be an object, is a list"),
    ("  schedulers: volcano", 1, "schedulers", "must be a list, is a string"),
    (
        "  schedulers:\n    - a\n    -",
        3,
        "schedulers[1]",
        'must be a string, is null: write "" for an empty one',
    ),
    ("  showNodeNames: no", 1, "showNodeNames", "must be true or false, is a string"),
    (
        "  bindings: {checkEligibility: 1}",
        1,
        "bindings.checkEligibility",
        "must be true or false, is a number",
    ),
    (
        "  bindings: {check: true}",
        1,
        "bindings.check",
        "there is no such field; there are checkEligibility",
    ),
    (
        "  injectionGraceSeconds: 1.5",
        1,
        "injectionGraceSeconds",
        "must be a whole number, is a number",
    ),
    ("  injectionGraceSeconds: -1", 1, "injectionGraceSeconds", "is -1: must be 0 or more"),
    (
        "  injectionGraceSeconds: 86401",
        1,
        "injectionGraceSeconds",
        "is 86401: must be 86400 or less",
    ),
    (
        "  support: {driver: 7.35}",
        1,
        "support.driver",
        "must be a string, is a number: write it in quotes",
    ),
    # Rules and actions.
    (
        "  rules:\n    qos-levle: Deny",
        2,
        "rules.qos-levle",
        "there is no rule 'qos-levle'; did you mean 'qos-level'?",
    ),
    (
        "  rules: {qos-level: deny}",
        1,
        "rules.qos-level",
        "is 'deny': must be Deny, Warn, Audit or Off; did you mean 'Deny'?",
    ),
    (
        "  rules: {qos-level: false}",
        1,
        "rules.qos-level",
        'is the boolean false, which YAML makes of Off: write "Off" in quotes',
    ),
    ("  rules: {qos-level: }", 1, "rules.qos-level", "is null: must be Deny, Warn, Audit or Off"),
    ("  unknownFacts: Off", 1, "unknownFacts", "is 'Off': must be Deny, Warn or Audit"),
    (
        "  onRuleError: {offline: Warn}",
        1,
        "onRuleError.offline",
        "is 'Warn': must be Deny or Allow",
    ),
    (
        "  exemptions: [{namespaces: [a], rules: [nope]}]",
        1,
        "exemptions[0].rules[0]",
        "there is no rule 'nope'",
    ),
    ("  exemptions: [{rules: [qos-level]}]", 1, "exemptions[0].namespaces", "is missing"),
    (
        "  exemptions: [{namespaces: []}]",
        1,
        "exemptions[0].namespaces",
        "is empty: it needs an entry",
    ),
    (
        "  exemptions: [{namespaces: [team-*]}]",
        1,
        "exemptions[0].namespaces[0]",
        (
            "'team-*' is not a namespace's exact name: up to 63 small letters, digits and "
            "'-', with a letter or digit first and last; patterns are not allowed"
        ),
    ),
    (
        '  modeSwitch: {users: [ops, "system:node:gpu-1"]}',
        1,
        "modeSwitch.users[1]",
        "'system:node:gpu-1' cannot be here: a node must not switch itself",
    ),
    (
        '  modeSwitch: {groups: [ops, "system:nodes"]}',
        1,
        "modeSwitch.groups[1]",
        '"system:nodes" cannot be here: a node must not switch itself',
    ),
    # Twice.
    (
        "  exemptions: [{namespaces: [a, a]}]",
        1,
        "exemptions[0].namespaces[1]",
        "'a' is given twice, first as entry 1",
    ),
    ("  schedulers: [a, b, a]", 1, "schedulers[2]", "'a' is given twice, first as entry 1"),
    (
        "  support: {kubernetes: [1.28.15-vke.19, v1.28.16-vke.1]}",
        1,
        "support.kubernetes[1]",
        "'Kubernetes 1.28' is given twice, first as entry 1",
    ),
    (
        "  injection:\n    env:\n    - {name: A, value: x}\n    - value: y\n      name: A",
        5,
        "injection.env[1].name",
        "'A' is given twice, first as entry 1",
    ),
    (
        "  nodePools: [{name: a}, {name: a}]",
        1,
        "nodePools[1].name",
        "'a' is given twice, first as entry 1",
    ),
    (
        (
            "  nodePools: [{name: a, taints: [{key: k, effect: NoExecute}, {key: k, value: "
            "v, effect: NoExecute}]}]"
        ),
        1,
        "nodePools[0].taints[1]",
        "'k NoExecute' is given twice, first as entry 1",
    ),
    (
        "  injection: {tolerations: [{key: a}, {key: a}]}",
        1,
        "injection.tolerations[1]",
        "'a' is given twice, first as entry 1",
    ),
    (
        ("  templates: [{group: g.io, kind: K, paths: [a]}, {group: g.io, kind: K, paths: [b]}]"),
        1,
        "templates[1]",
        "'g.io K' is given twice, first as entry 1",
    ),
    (
        "  templates: [{group: batch, kind: Job, paths: [spec.template]}]",
        1,
        "templates[0].kind",
        "'Job' is built in: take it out",
    ),
    # Versions.
    (
        "  support: {kubernetes: [1.28]}",
        1,
        "support.kubernetes[0]",
        "must be a string, is a number: write it in quotes",
    ),
    (
        "  support: {kubernetes: ['1.28']}",
        1,
        "support.kubernetes[0]",
        "'1.28' is not a Kubernetes version gate: write it as 1.28.15-vke.19",
    ),
    (
        "  support: {kubernetes: [1.28.3-gke.1]}",
        1,
        "support.kubernetes[0]",
        "'1.28.3-gke.1' is not a Kubernetes version gate: write it as 1.28.15-vke.19",
    ),
    ("  support: {kubernetes: []}", 1, "support.kubernetes", "is empty: it needs an entry"),
    (
        "  support: {addon: latest}",
        1,
        "support.addon",
        (
            "'latest' is not a version: two to eight numbers joined by dots, such as "
            "0.07.35.23 or v0.6.0"
        ),
    ),
    (
        "  support: {addon: v0.6.0-a1b2c3}",
        1,
        "support.addon",
        (
            "'v0.6.0-a1b2c3' is not a version: two to eight numbers joined by dots, such as "
            "0.07.35.23 or v0.6.0"
        ),
    ),
    (
        "  addonVersion: latest",
        1,
        "addonVersion",
        (
            "'latest' is not a version: two to eight numbers joined by dots, such as v0.6.0; "
            "leave it empty where it is not known"
        ),
    ),
    (
        "  nodePools: [{name: a, kubeletVersion: '1.28'}]",
        1,
        "nodePools[0].kubeletVersion",
        "'1.28' is not a kubelet version: write it as v1.28.15-vke.19",
    ),
    (
        "  support: {computePolicies: [native-burst-share]}",
        1,
        "support.computePolicies[0]",
        "native-burst-share cannot be hybrid: take it out of the list",
    ),
    ("  support: {unsupportedImages: [' ']}", 1, "support.unsupportedImages[0]", "is empty"),
    # Injection.
    ("  injection: {env: [{name: A}]}", 1, "injection.env[0].value", "is missing"),
    (
        "  injection: {env: [{name: A, value: 1}]}",
        1,
        "injection.env[0].value",
        "must be a string, is a number: write it in quotes",
    ),
    (
        "  injection: {env: [{name: 1A, value: x}]}",
        1,
        "injection.env[0].name",
        (
            "'1A' is not an environment variable's name: letters, digits, '_', '-' and '.', "
            "no digit first, not '.' and no '..' at the beginning"
        ),
    ),
    (
        '  injection: {env: [{name: A, value: "\\0"}]}',
        1,
        "injection.env[0].value",
        "holds a NUL character, which no environment variable can",
    ),
    (
        "  injection: {tolerations: [{key: a, operator: Exists, value: x}]}",
        1,
        "injection.tolerations[0].value",
        "must be empty when the operator is Exists",
    ),
    (
        "  injection: {tolerations: [{effect: NoSchedule}]}",
        1,
        "injection.tolerations[0]",
        "has no key: then the operator must be Exists",
    ),
    (
        "  injection: {tolerations: [{key: a, tolerationSeconds: 5}]}",
        1,
        "injection.tolerations[0].tolerationSeconds",
        "needs the effect NoExecute",
    ),
    (
        "  injection: {tolerations: [{key: a, operator: Gt, value: '1'}]}",
        1,
        "injection.tolerations[0].operator",
        "is 'Gt': must be Exists or Equal",
    ),
    (
        "  injection: {tolerations: [{key: a, effect: noschedule}]}",
        1,
        "injection.tolerations[0].effect",
        (
            "is 'noschedule': must be NoSchedule, PreferNoSchedule or NoExecute; did you "
            "mean 'NoSchedule'?"
        ),
    ),
    (
        "  injection: {labels: {mgpu-hybrid.io/class: online}}",
        1,
        "injection.labels[mgpu-hybrid.io/class]",
        "is reserved: it says what a pod is, and may not be injected",
    ),
    (
        "  injection:\n    labels:\n      vke.volcengine.com/a: b",
        3,
        "injection.labels[vke.volcengine.com/a]",
        "is reserved: labels under vke.volcengine.com belong to VKE",
    ),
    (
        "  keys: {qosLevel: x.io/qos}\n  injection: {annotations: {x.io/qos: reclaimed_cores}}",
        2,
        "injection.annotations[x.io/qos]",
        "is reserved: it says what a pod is, and may not be injected",
    ),
    (
        "  injection: {annotations: {vke.volcengine.com/gpu-index-container-a: '1'}}",
        1,
        "injection.annotations[vke.volcengine.com/gpu-index-container-a]",
        "is reserved: it says what a pod is, and may not be injected",
    ),
    (
        "  injection: {labels: {a: b c}}",
        1,
        "injection.labels.a",
        (
            "'b c' is not a label value: empty, or up to 63 letters, digits, '-', '_' and "
            "'.', with a letter or digit first and last"
        ),
    ),
    (
        f"  injection: {{annotations: {{a: {'x' * (256 * 1024)}}}}}",
        1,
        "injection.annotations",
        "has 262145 bytes; an object may have 262144 of annotations",
    ),
    (
        "  injection: {priorityClassName: Low}",
        1,
        "injection.priorityClassName",
        (
            "'Low' is not an object's name: up to 253 small letters, digits, '-' and '.', "
            "with a letter or digit first and last in each part"
        ),
    ),
    # Keys.
    (
        "  keys: {mgpuCore: vke.volcengine.com/mgpu-memory}",
        1,
        "keys.mgpuCore",
        "'vke.volcengine.com/mgpu-memory' is the key of mgpuMemory too",
    ),
    (
        "  keys: {wholeCard: [vke.volcengine.com/mgpu-core]}",
        1,
        "keys.wholeCard[0]",
        "'vke.volcengine.com/mgpu-core' is the key of mgpuCore too",
    ),
    (
        "  keys: {assumed: vke.volcengine.com/gpu-index-container-x}",
        1,
        "keys.assumed",
        (
            "'vke.volcengine.com/gpu-index-container-x' begins with gpuIndexPrefix "
            "'vke.volcengine.com/gpu-index-container-'"
        ),
    ),
    (
        "  keys: {mgpuCore: cpu}",
        1,
        "keys.mgpuCore",
        (
            "'cpu' is not an extended resource: a domain outside kubernetes.io, '/', and a "
            "name of up to 63 letters, digits, '-', '_' and '.', with a letter or digit "
            "first and last"
        ),
    ),
    (
        "  keys: {gpuSchedule: ''}",
        1,
        "keys.gpuSchedule",
        (
            "'' is not a label key: up to 63 letters, digits, '-', '_' and '.', with a "
            "letter or digit first and last, optionally after a DNS name and '/'"
        ),
    ),
    (
        "  keys: {gpuIndexPrefix: ''}",
        1,
        "keys.gpuIndexPrefix",
        (
            "'' is not the beginning of a key that a container's name can complete, such as "
            "example.com/index-"
        ),
    ),
    # The rest.
    (
        "  passingTaints: ['*']",
        1,
        "passingTaints[0]",
        "'*' lets every taint pass, so that no taint would count: name them",
    ),
    (
        "  passingTaints: ['a*b']",
        1,
        "passingTaints[0]",
        "'a*b' is not a taint's key, nor the beginning of one with a '*' last",
    ),
    (
        "  gpuClaims: {claims: [GPU-*]}",
        1,
        "gpuClaims.claims[0]",
        (
            "'GPU-*' can match no object's name: small letters, digits, '-', '.' and the "
            "wildcards * ? [ ]"
        ),
    ),
    (
        "  templates: [{kind: K, paths: ['spec.tasks[0].template']}]",
        1,
        "templates[0].paths[0]",
        (
            "'spec.tasks[0].template' is not a path: up to 16 field names joined by dots, "
            "'[*]' after a list, such as spec.template or spec.tasks[*].template"
        ),
    ),
    (
        "  templates: [{kind: job, paths: [a]}]",
        1,
        "templates[0].kind",
        "'job' is not a kind: up to 63 letters and digits, with a capital first",
    ),
    (
        "  templates: [{kind: Job2, paths: [a], resource: Jobs}]",
        1,
        "templates[0].resource",
        (
            "'Jobs' is not a resource's plural name: small letters, digits and '-', such as "
            "pytorchjobs"
        ),
    ),
    (
        "  nodePools: [{name: a, taints: [{key: k}]}]",
        1,
        "nodePools[0].taints[0].effect",
        "is missing",
    ),
]


@pytest.mark.parametrize(
    ("spec", "line", "field", "message"),
    CASES,
    ids=[f"{case[2]}: {case[3][:40]}" for case in CASES],
)
def test_each_mistake_has_its_line_field_and_message(
    spec: str, line: int, field: str, message: str
) -> None:
    assert mistakes(spec) == [(line, field, message)]


@pytest.mark.parametrize(
    "spec",
    [
        "  injectionGraceSeconds: 0",
        "  injectionGraceSeconds: 86400",
        "  rules: {gpu-by-env: Off}",
        "  rules: {gpu-by-env: 'Off', qos-level: Audit}",
        "  exemptions: [{namespaces: [a, 9-b], rules: [qos-level]}, {namespaces: [a]}]",
        "  support: {kubernetes: [1.32.0, v1.28.15-vke.19]}",
        "  support: {addon: v0.6.0-rc.1}",
        "  addonVersion: v0.6.0-20240901-abcdef",
        "  support: {unsupportedImages: []}",
        "  keys: {wholeCard: [], imageLabel: example.com/image}",
        "  keys: {mgpuCore: example.com/a, mgpuMemory: vke.volcengine.com/mgpu-core}",
        "  injection: {env: [], tolerations: [], labels: null}",
        "  injection: {env: [{name: -a.b_C, value: ''}, {name: b, value: off}]}",
        "  injection: {tolerations: [{operator: Exists}]}",
        "  injection: {tolerations: [{key: a, effect: NoExecute, tolerationSeconds: 0}]}",
        "  injection: {tolerations: [{key: a, value: x}, {key: a, value: y}]}",
        "  injection: {annotations: {Example.com/A: 'any text, even spaces'}}",
        "  injection: {annotations: {vke.volcengine.com/burst: x}}",
        f"  injection: {{annotations: {{a: {'x' * (256 * 1024 - 1)}}}}}",
        "  passingTaints: [a, a.io/*, ToBe*]",
        "  gpuClaims: {claims: ['gpu-*', 'team-[ab]-?']}",
        "  templates: [{group: batch.volcano.sh, kind: Job, paths: ['spec.tasks[*].template']}]",
        "  nodePools: [{name: Pool A}, {name: b, taints: [{key: k, effect: NoSchedule}]}]",
        "  schedulers: ['system:serviceaccount:kube-system:volcano']",
        "  keys:",
    ],
)
def test_what_is_just_allowed(spec: str) -> None:
    assert isinstance(load_policy(HEADER + spec, "policy.yaml"), Policy)


def test_mistakes_of_every_sort_come_at_once_in_file_order() -> None:
    spec = (
        "  keys: {mgpuCore: vke.volcengine.com/mgpu-memory}\n"  # two fields compared
        "  rules: {qos-levle: Deny}\n"  # a name
        "  rules: {}\n"  # a key given twice
        "  injection:\n"
        "    env: [{name: 1A, value: x}, {name: B, value: x}, {name: B, value: 5}]\n"
        "  nope: 1\n"
    )
    assert [(line, field) for line, field, _ in mistakes(spec)] == [
        (1, "keys.mgpuCore"),
        (2, "rules.qos-levle"),
        (3, "rules"),
        (5, "injection.env[0].name"),
        (5, "injection.env[2].name"),
        (5, "injection.env[2].value"),
        (6, "nope"),
    ]


def test_default_file_is_the_built_in_policy_with_every_field() -> None:
    text = (files("policies") / "data" / "default.yaml").read_text(encoding="utf-8")
    assert load_policy(text, "default.yaml") == Policy()
    assert yaml.safe_load(text) == policy_document(Policy())


def test_models_and_printed_document_have_the_same_fields() -> None:
    parsed = HybridPolicy.model_validate(policy_document(Policy()))
    printed = parsed.model_dump(by_alias=True, exclude={"metadata"}, exclude_none=True)
    assert _names(printed) - {".spec.injection.tolerations.value"} == _names(
        policy_document(Policy())
    )


def _names(value: object, path: str = "") -> set[str]:
    if isinstance(value, dict):
        return {path}.union(*(_names(item, f"{path}.{key}") for key, item in value.items()))
    if isinstance(value, list | tuple):
        return {path}.union(*(_names(item, path) for item in value))
    return {path}
