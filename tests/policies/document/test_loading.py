"""From a file's bytes to a policy: YAML's own mistakes, conversion, digest, and the way back."""

import json
import subprocess
import sys
from dataclasses import replace
from types import MappingProxyType

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.document import positioned_yaml
from policies.document.loading import Mistake, PolicyError, load_policy, policy_document
from policies.policy import (
    BUILTIN_TEMPLATES,
    DEFAULT_ACTIONS,
    Action,
    Eligibility,
    EnvVar,
    Exemption,
    GpuClaims,
    Injection,
    Keys,
    ModeSwitch,
    NodePool,
    Policy,
    SupportMatrix,
    TemplateKind,
    node_requirements,
)
from policies.tolerations import Toleration
from policies.versions import KubernetesGate

HEADER = "apiVersion: mgpu-hybrid.io/v1alpha1\nkind: HybridPolicy\n"
CLASS = ("mgpu-hybrid.io/class", "offline")


@pytest.fixture(params=["as installed", "without libyaml"])
def _parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "without libyaml":
        monkeypatch.setattr(positioned_yaml, "LOADER", yaml.BaseLoader)


@pytest.mark.usefixtures("_parser")
@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        pytest.param("", 1, "the file is empty: it needs a document", id="empty"),
        pytest.param("# nothing\n", 1, "the file is empty: it needs a document", id="comment"),
        pytest.param(
            "- a", 1, "must be an object with apiVersion, kind and spec, is a list", id="list"
        ),
        pytest.param(
            "--- null\n", 1, "must be an object with apiVersion, kind and spec, is null", id="null"
        ),
        pytest.param(
            "a:\n  b: c: d", 2, "is not YAML: mapping values are not allowed", id="syntax"
        ),
        pytest.param("a:\n\tb: 1", 2, "is indented with a tab: YAML takes only spaces", id="tab"),
        pytest.param("a: *b", 1, "is not YAML: found undefined alias", id="unknown-alias"),
        pytest.param(b"a: b\nc: \xff", 2, "is not UTF-8 text", id="latin-1"),
        pytest.param("a: b\nc: \ud800", 2, "is not UTF-8 text", id="surrogate"),
        pytest.param("a: b\nc: \0", 2, "has the control character '\\x00'", id="nul"),
        pytest.param(
            HEADER + "---\na: b", 3, "a second document begins here", id="second-document"
        ),
        pytest.param(HEADER + "spec: !!python/name:os.system {}", 3, "has the YAML tag", id="tag"),
        pytest.param(
            HEADER + "spec: {a: " + "{a: " * 30, 3, "is nested more than 24 levels", id="deep"
        ),
        pytest.param(
            "#" * (2**20 + 1), 1, "has 1048577 bytes; a policy file may have 1048576", id="large"
        ),
        pytest.param(HEADER + "? [a, b]\n: c", 3, "a key must be a string", id="list-as-key"),
    ],
)
def test_unreadable_files(text: str | bytes, line: int, message: str) -> None:
    with pytest.raises(PolicyError) as caught:
        load_policy(text, "p.yaml")
    first = caught.value.mistakes[0]
    assert (first.line, first.message[: len(message)]) == (line, message)
    assert str(caught.value).startswith(f"p.yaml:{line}: {message}")


@pytest.mark.usefixtures("_parser")
def test_alias_bomb_is_refused_before_it_grows() -> None:
    lines = ["  a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"  a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    with pytest.raises(PolicyError, match="expands to more than 20000 values"):
        load_policy(HEADER + "metadata:\n" + "\n".join(lines), "p.yaml")


@pytest.mark.usefixtures("_parser")
def test_alias_to_itself_is_refused() -> None:
    with pytest.raises(PolicyError, match=r"p\.yaml:3: spec: expands to more than"):
        load_policy(HEADER + "spec: &a {rules: *a}", "p.yaml")


def test_an_escape_beyond_unicode_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(positioned_yaml, "LOADER", yaml.BaseLoader)
    with pytest.raises(PolicyError, match="is not YAML"):
        load_policy(HEADER + 'metadata: "\\U00110000"', "p.yaml")
    with pytest.raises(PolicyError, match="half a surrogate pair"):
        load_policy(HEADER + 'metadata: {a: "\\ud800"}', "p.yaml")


@pytest.mark.usefixtures("_parser")
def test_an_honest_alias_works() -> None:
    text = HEADER + "spec:\n  schedulers: &names [a]\n  gpuClaims: {claims: *names}\n"
    assert load_policy(text, "p.yaml").gpu_claims.claims == ("a",)


@pytest.mark.usefixtures("_parser")
def test_duplicate_keys_are_all_named_with_both_lines() -> None:
    text = HEADER + "spec:\n  rules:\n    qos-level: Deny\n    qos-level: Warn\n  rules: {}\n"
    with pytest.raises(PolicyError) as caught:
        load_policy(text, "p.yaml")
    assert str(caught.value) == (
        "p.yaml:6: spec.rules.qos-level: stands twice, first in line 5: keep one\n"
        "p.yaml:7: spec.rules: stands twice, first in line 4: keep one"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "spec: {}",
            (
                'p:1: apiVersion: is missing: write "apiVersion: mgpu-hybrid.io/v1alpha1"\n'
                'p:1: kind: is missing: write "kind: HybridPolicy"'
            ),
        ),
        (
            "apiVersion: v1\nkind: ConfigMap\ndata: {}",
            (
                "p:1: apiVersion: is 'v1': must be mgpu-hybrid.io/v1alpha1\n"
                "p:2: kind: is 'ConfigMap': must be HybridPolicy"
            ),
        ),
        (
            "apiVersion: mgpu-hybrid.io/v1\nkind: HybridPolicy",
            "p:1: apiVersion: is 'mgpu-hybrid.io/v1': must be mgpu-hybrid.io/v1alpha1",
        ),
        (
            "apiVersion: mgpu-hybrid.io/v1alpha1\nkind: 5",
            "p:2: kind: is a number: must be HybridPolicy",
        ),
    ],
    ids=["neither", "other kind", "other version", "number"],
)
def test_a_document_that_is_no_policy_gets_no_other_word(text: str, expected: str) -> None:
    with pytest.raises(PolicyError) as caught:
        load_policy(text, "p")
    assert str(caught.value) == expected


@pytest.mark.parametrize(
    "text",
    [
        HEADER,
        HEADER + "spec:",
        HEADER + "metadata: {name: default, uid: x, generation: 3}\nspec: {}",
        b"\xef\xbb\xbf" + HEADER.encode(),
        HEADER.replace("\n", "\r\n"),
        "---\n" + HEADER + "...\n",
        json.dumps(policy_document(Policy())),
        HEADER + "spec: {rules: null, keys: {qosLevel: null}}",
    ],
    ids=["bare", "null spec", "metadata", "byte order mark", "crlf", "markers", "json", "nulls"],
)
def test_texts_that_mean_the_built_in_policy(text: str | bytes) -> None:
    policy = load_policy(text, "p.yaml")
    assert policy == Policy()
    assert policy.digest == load_policy(HEADER, "q.yaml").digest


def test_an_error_shows_field_line_and_column() -> None:
    with pytest.raises(PolicyError) as caught:
        load_policy(HEADER + "spec:\n  rules:\n    foo: Deny\n", "dir/p.yaml")
    (mistake,) = caught.value.mistakes
    assert (mistake.line, mistake.column, mistake.field) == (5, 5, "spec.rules.foo")
    assert str(caught.value) == "dir/p.yaml:5: spec.rules.foo: there is no rule 'foo'"


def test_a_file_that_differs_in_every_field() -> None:
    text = """\
apiVersion: mgpu-hybrid.io/v1alpha1
kind: HybridPolicy
spec:
  keys: {qosLevel: x.io/qos, gpuSchedule: x.io/mode, wholeCard: [amd.com/gpu]}
  support: {kubernetes: [1.32.0, v1.28.16-vke.2], driver: "1.0", computePolicies: [fixed-share]}
  injection:
    env: [{name: B, value: b}, {name: A, value: "1"}]
    tolerations: [{key: a, value: b, effect: NoExecute, tolerationSeconds: 9}]
    eligibility: notRefused
    labels: {z: "1", a: "2"}
    annotations: {note: hello}
    priorityClassName: low
    schedulerName: volcano
    runtimeClassName: nvidia
  injectionGraceSeconds: 0
  rules: {qos-level: Warn, gpu-by-env: Audit, node-match: Off}
  exemptions: [{namespaces: [a, b], rules: [qos-level]}, {namespaces: [c]}]
  unknownFacts: Deny
  onRuleError: {offline: Allow, others: Deny}
  schedulers: ["system:kube-scheduler"]
  gpuClaims: {claimTemplates: ["gpu-*"], claims: [one], deviceClasses: []}
  bindings: {checkEligibility: true}
  showNodeNames: false
  passingTaints: [x.io/*]
  nodePools:
  - name: a10
    labels: {pool: a10}
    taints: [{key: k, value: v, effect: NoSchedule}]
    osImage: Ubuntu 20.04
    kubeletVersion: v1.28.15-vke.19
    annotations: {d: e}
  templates: [{group: batch.volcano.sh, kind: Job, paths: ["spec.tasks[*].template"], resource: jobs}]
  addonVersion: v0.7.0
  generalWebhookVersion: v1.19.0
  webhookNamespace: gpu
"""
    keys = Keys(qos_level="x.io/qos", gpu_schedule="x.io/mode", whole_card=("amd.com/gpu",))
    expected = Policy(
        keys=keys,
        support=SupportMatrix(
            kubernetes=(KubernetesGate(28, 16, 2), KubernetesGate(32, 0, 0)),
            driver="1.0",
            compute_policies=("fixed-share",),
        ),
        injection=Injection(
            env=(EnvVar("B", "b"), EnvVar("A", "1")),
            tolerations=(Toleration("a", "Equal", "b", "NoExecute", 9),),
            node_requirements=node_requirements(keys, Eligibility.NOT_REFUSED),
            labels=(CLASS, ("a", "2"), ("z", "1")),
            annotations=(("note", "hello"),),
            priority_class_name="low",
            scheduler_name="volcano",
            runtime_class_name="nvidia",
        ),
        injection_grace_seconds=0,
        actions={
            **DEFAULT_ACTIONS,
            "qos-level": Action.WARN,
            "gpu-by-env": Action.AUDIT,
            "node-match": Action.OFF,
        },
        exemptions=(Exemption(("a", "b"), ("qos-level",)), Exemption(("c",))),
        unknown_facts=Action.DENY,
        deny_offline_on_rule_error=False,
        deny_others_on_rule_error=True,
        schedulers=("system:kube-scheduler",),
        gpu_claims=GpuClaims(("gpu-*",), ("one",), ()),
        check_bindings=True,
        show_node_names=False,
        passing_taints=("x.io/*",),
        node_pools=(
            NodePool(
                name="a10",
                labels={"pool": "a10"},
                taints=(("k", "v", "NoSchedule"),),
                os_image="Ubuntu 20.04",
                kubelet_version="v1.28.15-vke.19",
                annotations={"d": "e"},
            ),
        ),
        templates=(
            *BUILTIN_TEMPLATES,
            TemplateKind("batch.volcano.sh", "Job", ("spec.tasks[*].template",), "jobs"),
        ),
        addon_version="v0.7.0",
        general_webhook_version="v1.19.0",
        webhook_namespace="gpu",
    )
    policy = load_policy(text, "p.yaml")
    assert policy == expected
    assert load_policy(yaml.safe_dump(policy_document(policy)), "q.yaml") == policy


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("schedulers: [a, b]", "schedulers: [b, a]", True),
        ("rules: {qos-level: Deny}", "{}", True),
        ("injection: {labels: {a: x, b: y}}", "injection: {labels: {b: y, a: x}}", True),
        (
            "support: {kubernetes: [1.30.4-vke.3, 1.28.15-vke.19]}",
            "support: {kubernetes: [v1.28.15-vke.19, v1.30.4-vke.3]}",
            True,
        ),
        (
            "injection: {tolerations: [{key: a}]}",
            "injection: {tolerations: [{key: a, operator: Equal}]}",
            True,
        ),
        (
            "injection: {env: [{name: A, value: x}, {name: B, value: x}]}",
            "injection: {env: [{name: B, value: x}, {name: A, value: x}]}",
            False,
        ),
        ("rules: {qos-level: Warn}", "{}", False),
        ("injection: {eligibility: notRefused}", "{}", False),
    ],
)
def test_digest_names_the_meaning(one: str, other: str, same: bool) -> None:  # noqa: FBT001 - a column
    digests = [load_policy(f"{HEADER}spec:\n  {text}", "p.yaml").digest for text in (one, other)]
    assert len(digests[0]) == 12
    assert (digests[0] == digests[1]) is same


names = st.text("abcxyz019", min_size=1, max_size=8)
texts = st.one_of(
    st.sampled_from(
        ["", "null", "~", "true", "Off", "1", "1.5", "1e3", "0o7", "0300", "2024-01-01", "=", "<<"]
    ),
    st.text(st.characters(categories=["L", "M", "N", "P", "S", "Zs"]), max_size=12),
)


def string_maps(values: st.SearchStrategy[str]) -> st.SearchStrategy[dict[str, str]]:
    return st.dictionaries(names, values, max_size=3)


def unique_tuples(entries: st.SearchStrategy[str]) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(entries, max_size=3, unique=True).map(tuple)


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    """Policies of any valid content, in the canonical order that loading gives."""
    keys = replace(Keys(), qos_level=f"a.io/{draw(names)}", whole_card=(f"b.io/{draw(names)}",))
    pairs = draw(string_maps(names)).items()
    gates = draw(
        st.dictionaries(
            st.integers(0, 40), st.tuples(st.integers(0, 99), st.integers(0, 99)), min_size=1
        )
    )
    injection = Injection(
        env=tuple(EnvVar(f"E{name}", value) for name, value in draw(string_maps(texts)).items()),
        tolerations=tuple(
            Toleration(name, "Equal", value, "NoExecute", seconds)
            for (name, value), seconds in zip(
                draw(string_maps(names)).items(),
                draw(st.lists(st.none() | st.integers(-9, 9), min_size=3, max_size=3)),
                strict=False,
            )
        ),
        node_requirements=node_requirements(keys, draw(st.sampled_from(Eligibility))),
        labels=(CLASS, *sorted(pairs)),
        annotations=tuple(sorted(draw(string_maps(texts)).items())),
        scheduler_name=draw(st.just("") | names),
    )
    pools = tuple(
        NodePool(
            name,
            MappingProxyType(dict(sorted(draw(string_maps(names)).items()))),
            taints=((name, "", "NoSchedule"),),
            annotations=MappingProxyType(dict(sorted(draw(string_maps(texts)).items()))),
        )
        for name in draw(unique_tuples(names))
    )
    return Policy(
        keys=keys,
        support=SupportMatrix(
            tuple(KubernetesGate(minor, *rest) for minor, rest in sorted(gates.items()))
        ),
        injection=injection,
        injection_grace_seconds=draw(st.integers(0, 86_400)),
        actions={rule: draw(st.sampled_from(Action)) for rule in DEFAULT_ACTIONS},
        exemptions=tuple(
            Exemption((name,), draw(unique_tuples(st.sampled_from(sorted(DEFAULT_ACTIONS)))))
            for name in draw(unique_tuples(names))
        ),
        unknown_facts=draw(st.sampled_from([Action.DENY, Action.WARN, Action.AUDIT])),
        deny_offline_on_rule_error=draw(st.booleans()),
        schedulers=draw(unique_tuples(names)),
        mode_switch=ModeSwitch(
            users=draw(unique_tuples(names)),
            groups=draw(unique_tuples(names)),
            unknown_pods=draw(st.sampled_from([Action.DENY, Action.WARN, Action.AUDIT])),
        ),
        check_bindings=draw(st.booleans()),
        show_node_names=draw(st.booleans()),
        node_pools=pools,
        templates=(
            *BUILTIN_TEMPLATES,
            *(
                TemplateKind("a.io", f"K{name}", (f"p{name}",), "")
                for name in draw(unique_tuples(names))
            ),
        ),
        addon_version=draw(st.sampled_from(["", "1.0", "v0.6.0"])),
    )


@settings(deadline=None)  # the first load imports and compiles
@given(policies())
def test_a_printed_policy_loads_as_itself(policy: Policy) -> None:
    document = policy_document(policy)
    assert load_policy(yaml.safe_dump(document, sort_keys=False), "p.yaml") == policy
    assert load_policy(yaml.safe_dump(document, allow_unicode=True), "p.yaml") == policy
    assert load_policy(json.dumps(document, ensure_ascii=False), "p.json") == policy


@settings(deadline=None)
@given(st.binary(max_size=200) | st.text(max_size=200))
def test_any_bytes_give_a_policy_error(content: bytes | str) -> None:
    with pytest.raises(PolicyError):
        load_policy(content, "p.yaml")


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from(["", "a", "Exists"]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner, max_size=2)
    ),
    max_leaves=4,
)


@settings(deadline=None)
@given(st.data())
def test_a_wrong_type_anywhere_is_reported_not_raised(data: st.DataObject) -> None:
    document = json.loads(json.dumps(policy_document(Policy())))
    spot = document["spec"]
    while True:
        entries = list(spot) if isinstance(spot, dict) else list(range(len(spot)))
        entry = data.draw(st.sampled_from(entries))
        inner = spot[entry]
        if not inner or not isinstance(inner, dict | list) or data.draw(st.booleans()):
            break
        spot = inner
    spot[entry] = data.draw(JSON_VALUES)
    mistakes: tuple[Mistake, ...] = ()
    try:
        load_policy(json.dumps(document), "p.json")
    except PolicyError as error:
        mistakes = error.mistakes
    assert all(mistake.line == 1 and mistake.message for mistake in mistakes)


def test_the_core_does_not_import_pydantic() -> None:
    modules = "sys, policies.engine, policies.document.policy_document"
    code = f"import {modules}; sys.exit('pydantic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
