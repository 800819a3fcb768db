"""Policies whose injection writes more than the default one, or something else."""

from collections.abc import Mapping
from dataclasses import replace

from policies.policy import Eligibility, EnvVar, Injection, Keys, Policy, node_requirements
from policies.tolerations import Toleration

DEFAULT = Policy()
WITH_EVERYTHING = replace(
    DEFAULT.injection,
    env=(EnvVar("MGPU_TASK_CLASS", "offline"), EnvVar("A", ""), EnvVar("MGPU_PRIORITY", "$(A)")),
    tolerations=(
        *DEFAULT.injection.tolerations,
        Toleration("other", "Equal", "true", "NoExecute", 300),
        Toleration("other", "", "5", "", None),
    ),
    labels=(*DEFAULT.injection.labels, ("team~x/y", "batch"), ("empty", "")),
    annotations=(("note/a~b", "x"), ("example.com/new", "~0/1")),
    priority_class_name="batch-low",
    scheduler_name="volcano",
    runtime_class_name="nvidia",
)
NOT_REFUSED = replace(
    DEFAULT.injection, node_requirements=node_requirements(Keys(), Eligibility.NOT_REFUSED)
)
NOTHING = Injection(env=(), tolerations=(), node_requirements=(), labels=())

POLICIES: Mapping[str, Policy] = {
    "default": DEFAULT,
    "everything": replace(DEFAULT, injection=WITH_EVERYTHING),
    "not-refused": replace(DEFAULT, injection=NOT_REFUSED),
    "priority": replace(
        DEFAULT, injection=replace(DEFAULT.injection, priority_class_name="batch-low")
    ),
    "nothing": replace(DEFAULT, injection=NOTHING),
}
