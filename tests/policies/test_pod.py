"""A pod as the rules see it: its class, and what each container asks."""

import pytest

from policies.errors import MalformedError
from policies.pod import DeviceClasses, PodClass, parse_pod
from policies.policy import GpuClaims, Policy
from tests.builders import (
    DRA_CLASSES,
    MGPU_CORE,
    MGPU_MEMORY,
    MIRROR,
    OFFLINE_ASKS,
    ONLINE_ASKS,
    QOS_LEVEL,
    RECLAIMED,
    WHOLE_CARD,
    Object,
    Texts,
    container,
    dra_pod,
    pod,
    split,
)

MARK: Texts = {QOS_LEVEL: "reclaimed_cores"}


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        pytest.param(pod(), PodClass.NONE, id="nothing asked"),
        pytest.param(pod(annotations=MARK), PodClass.NONE, id="reclaimed without a GPU"),
        pytest.param(pod(container(ONLINE_ASKS)), PodClass.ONLINE, id="mGPU"),
        pytest.param(pod(container({MGPU_MEMORY: "1"})), PodClass.ONLINE, id="mGPU memory only"),
        pytest.param(pod(container({MGPU_CORE: "0"})), PodClass.ONLINE, id="mGPU, though 0"),
        pytest.param(pod(container({MGPU_CORE: None})), PodClass.ONLINE, id="mGPU, though null"),
        pytest.param(pod(split({}, ONLINE_ASKS)), PodClass.ONLINE, id="requests only"),
        pytest.param(pod(split(ONLINE_ASKS, {})), PodClass.ONLINE, id="limits only"),
        pytest.param(
            pod(container(ONLINE_ASKS), annotations=MARK), PodClass.OFFLINE, id="mGPU and the mark"
        ),
        pytest.param(
            pod(container({MGPU_MEMORY: "1"}), annotations=MARK),
            PodClass.OFFLINE,
            id="memory and the mark",
        ),
        pytest.param(
            pod(container(ONLINE_ASKS), annotations={QOS_LEVEL: "Reclaimed_cores"}),
            PodClass.ONLINE,
            id="the mark is exact",
        ),
        pytest.param(
            pod(container(ONLINE_ASKS), metadata={"labels": {QOS_LEVEL: "reclaimed_cores"}}),
            PodClass.ONLINE,
            id="a label is no mark",
        ),
        pytest.param(
            pod(container(OFFLINE_ASKS)), PodClass.OFFLINE, id="reclaimed compute unmarked"
        ),
        pytest.param(
            pod(initContainers=[container(OFFLINE_ASKS)]),
            PodClass.OFFLINE,
            id="init container only",
        ),
        pytest.param(
            pod(container(ONLINE_ASKS), initContainers=[container({RECLAIMED: "1"})]),
            PodClass.OFFLINE,
            id="one reclaiming container is enough",
        ),
        pytest.param(pod(container({WHOLE_CARD: "1"})), PodClass.WHOLE_CARD, id="whole card"),
        pytest.param(
            pod(container({WHOLE_CARD: "0"})), PodClass.NONE, id="no whole card, said as 0"
        ),
        pytest.param(
            pod(container({WHOLE_CARD: "1"}), annotations=MARK),
            PodClass.WHOLE_CARD,
            id="reclaimed card",
        ),
        pytest.param(
            pod(container({WHOLE_CARD: "1", **ONLINE_ASKS})),
            PodClass.ONLINE,
            id="both: mGPU goes first",
        ),
        pytest.param(dra_pod(), PodClass.DRA, id="GPU claim"),
        pytest.param(
            pod(resourceClaims=[{"name": "gpu", "resourceClaimName": "nic"}]),
            PodClass.NONE,
            id="other claim",
        ),
    ],
)
def test_class(raw: Object, expected: PodClass) -> None:
    assert parse_pod(raw, Policy(), device_classes=DRA_CLASSES).pod_class is expected


def claiming(**claim: str) -> Object:
    return pod(resourceClaims=[{"name": "c", **claim}])


@pytest.mark.parametrize(
    ("raw", "classes", "expected"),
    [
        pytest.param(
            claiming(resourceClaimTemplateName="gpu-a"), {}, ("c",), id="template by pattern"
        ),
        pytest.param(
            claiming(resourceClaimTemplateName="nic-a"), {}, (), id="template of another name"
        ),
        pytest.param(claiming(resourceClaimName="shared-gpu"), {}, ("c",), id="claim by name"),
        pytest.param(claiming(resourceClaimName="gpu-a"), {}, (), id="patterns are not mixed"),
        pytest.param(
            claiming(resourceClaimTemplateName="x"),
            {"template/x": ["mig.nvidia.com"]},
            ("c",),
            id="class",
        ),
        pytest.param(
            claiming(resourceClaimTemplateName="x"),
            {"template/x": ["nic.example.com"]},
            (),
            id="other class",
        ),
        pytest.param(
            claiming(resourceClaimName="x"),
            {"claim/x": ["gpu.nvidia.com"]},
            ("c",),
            id="class of a claim",
        ),
    ],
)
def test_gpu_claims(raw: Object, classes: DeviceClasses, expected: tuple[str, ...]) -> None:
    policy = Policy(gpu_claims=GpuClaims(claim_templates=("gpu-*",), claims=("shared-gpu",)))
    assert parse_pod(raw, policy, device_classes=classes).gpu_claims == expected


@pytest.mark.parametrize(
    ("limits", "requests", "text", "value", "problem"),
    [
        pytest.param({MGPU_CORE: "30"}, {MGPU_CORE: "30"}, "30", 30, "", id="equal"),
        pytest.param({MGPU_CORE: "30"}, {}, "30", 30, "", id="limit only"),
        pytest.param({}, {MGPU_CORE: "30"}, "30", 30, "without a limit", id="request only"),
        pytest.param(
            {MGPU_CORE: "40"},
            {MGPU_CORE: "30"},
            "30",
            30,
            "differs from its limit 40",
            id="unequal",
        ),
        pytest.param(
            {MGPU_CORE: "1e2"}, {MGPU_CORE: "100"}, "100", 100, "", id="equal in other words"
        ),
        pytest.param({MGPU_CORE: 30}, {MGPU_CORE: "30"}, "30", 30, "", id="number and text"),
        pytest.param({MGPU_CORE: "0.5"}, {}, "0.5", 1, "not a whole number", id="rounded up"),
        pytest.param({MGPU_CORE: None}, {}, "null", 0, "", id="null"),
        pytest.param({MGPU_CORE: "x"}, {}, "x", 0, "is not a quantity", id="no quantity"),
        pytest.param(
            {MGPU_CORE: "x"},
            {MGPU_CORE: "1"},
            "1",
            0,
            "is not a quantity",
            id="limit is no quantity",
        ),
    ],
)
def test_amount(
    limits: dict[str, object], requests: dict[str, object], text: str, value: int, problem: str
) -> None:
    (asking,) = parse_pod(pod(split(limits, requests)), Policy()).containers
    assert asking.core is not None
    assert (asking.core.text, asking.core.value) == (text, value)
    assert problem in asking.core.problem
    assert bool(problem) is bool(asking.core.problem)


def test_containers_come_first_each_with_its_place() -> None:
    raw = pod(container(name="a"), container(name="b"), initContainers=[container(name="i")])
    parsed = parse_pod(raw, Policy())
    assert [(c.name, c.path, c.is_init) for c in parsed.containers] == [
        ("a", "spec.containers[0]", False),
        ("b", "spec.containers[1]", False),
        ("i", "spec.initContainers[0]", True),
    ]
    assert [c.name for c in parsed.main_containers] == ["a", "b"]
    assert parsed.mgpu_containers == ()


def test_paths_of_a_template() -> None:
    parsed = parse_pod(pod(container(ONLINE_ASKS)), Policy(), path="spec.template")
    assert parsed.spec_path == "spec.template.spec"
    assert parsed.containers[0].path == "spec.template.spec.containers[0]"
    assert parsed.annotation_path("a") == "spec.template.metadata.annotations[a]"


@pytest.mark.parametrize(
    ("metadata", "given", "expected"),
    [({"namespace": "own"}, "given", "own"), ({"namespace": None}, "given", "given")],
    ids=["own", "given"],
)
def test_namespace(metadata: dict[str, object], given: str, expected: str) -> None:
    assert parse_pod(pod(metadata=metadata), Policy(), namespace=given).namespace == expected


def test_a_pod_without_a_name_has_its_generate_name() -> None:
    raw = pod(metadata={"name": None, "generateName": "batch-"})
    assert parse_pod(raw, Policy()).name == "batch-"


def test_mirror_and_deletion() -> None:
    plain = parse_pod(pod(), Policy())
    raw = pod(annotations={MIRROR: ""}, metadata={"deletionTimestamp": "x"})
    assert not plain.is_mirror
    assert not plain.is_deleting
    assert parse_pod(raw, Policy()).is_deleting
    assert parse_pod(pod(annotations={MIRROR: ""}), Policy()).is_mirror


@pytest.mark.parametrize(
    "raw", [{}, {"spec": None, "metadata": None}, {"spec": {"containers": [None]}}]
)
def test_null_is_absent(raw: Object) -> None:
    assert parse_pod(raw, Policy()).pod_class is PodClass.NONE


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        ({"spec": []}, "spec"),
        ({"metadata": "x"}, "metadata"),
        ({"metadata": {"annotations": {"a": 1}}}, r"metadata\.annotations\.a"),
        ({"spec": {"containers": {}}}, r"spec\.containers"),
        ({"spec": {"containers": ["x"]}}, r"spec\.containers\[0\]"),
        (
            {"spec": {"initContainers": [{"resources": []}]}},
            r"spec\.initContainers\[0\]\.resources",
        ),
        ({"spec": {"resourceClaims": "x"}}, r"spec\.resourceClaims"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_wrong_type_is_malformed_and_names_its_place(raw: Object, path: str) -> None:
    with pytest.raises(MalformedError, match=f"^{path}: must be "):
        parse_pod(raw, Policy())


def _nested(depth: int) -> object:
    value: object = "1"
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        pytest.param("9" * 64, "9" * 64, id="as long as is shown"),
        pytest.param("9" * 65, "9" * 64 + "…", id="longer"),
        pytest.param(2**64 - 1, str(2**64 - 1), id="largest number shown"),
        pytest.param(2**64, "a number beyond 64 bits", id="larger number"),
        pytest.param(16**5000, "a number beyond 64 bits", id="more digits than Python writes"),
        pytest.param(_nested(2000), "a list", id="deeper than Python can write"),
        pytest.param({"a": "1"}, "an object", id="object"),
        pytest.param(None, "null", id="null"),
    ],
)
def test_an_amount_of_any_size_and_depth_is_told_in_few_words(amount: object, text: str) -> None:
    (only,) = parse_pod(pod(container({RECLAIMED: amount})), Policy()).containers
    assert only.reclaimed is not None
    assert only.reclaimed.text == text


DEVICE_CLASS = "deviceclass.resource.kubernetes.io/gpu.nvidia.com"


@pytest.mark.parametrize(
    ("asks", "expected"),
    [
        ({DEVICE_CLASS: "1"}, PodClass.DRA),
        ({DEVICE_CLASS: "0"}, PodClass.NONE),
        ({"deviceclass.resource.kubernetes.io/nic": "1"}, PodClass.NONE),
        ({DEVICE_CLASS: "1", "nvidia.com/gpu": "1"}, PodClass.WHOLE_CARD),
    ],
)
def test_a_device_class_as_an_extended_resource_is_dra(
    asks: dict[str, object], expected: PodClass
) -> None:
    assert parse_pod(pod(container(asks)), Policy()).pod_class is expected
