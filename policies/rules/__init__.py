"""The rules: one file each, listed by hand. Rules do not import each other; the engine runs them all."""

from policies.facts import NodeRule, Rule
from policies.node_change import NodeChangeRule
from policies.rules import (
    class_change,
    cluster_version,
    compute_policy,
    container_name,
    general_webhook_version,
    gpu_by_env,
    gpu_mode_mismatch,
    injected,
    mgpu_request,
    mixed_gpu_modes,
    multi_card,
    multi_card_mode,
    node_addon_version,
    node_compute_policy,
    node_driver_version,
    node_gpu_mode,
    node_image,
    node_kubelet_version,
    node_match,
    node_mode_switch,
    node_mode_value,
    node_multi_card,
    offline_annotation,
    offline_compute,
    offline_deadline,
    offline_liveness,
    offline_memory,
    policy_match,
    privileged_container,
    qos_level,
    reclaimed_whole_card,
    scheduler_annotations,
)

RULES: tuple[Rule, ...] = (
    qos_level.RULE,
    offline_annotation.RULE,
    offline_compute.RULE,
    offline_memory.RULE,
    multi_card.RULE,
    multi_card_mode.RULE,
    compute_policy.RULE,
    mixed_gpu_modes.RULE,
    reclaimed_whole_card.RULE,
    mgpu_request.RULE,
    container_name.RULE,
    policy_match.RULE,
    gpu_by_env.RULE,
    privileged_container.RULE,
    offline_liveness.RULE,
    offline_deadline.RULE,
    injected.RULE,
    scheduler_annotations.RULE,
    class_change.RULE,
    node_match.RULE,
    cluster_version.RULE,
    general_webhook_version.RULE,
    gpu_mode_mismatch.RULE,
)
"""Pod rules, in the order in which findings are shown."""

NODE_RULES: tuple[NodeRule, ...] = (
    node_gpu_mode.RULE,
    node_compute_policy.RULE,
    node_image.RULE,
    node_driver_version.RULE,
    node_addon_version.RULE,
    node_kubelet_version.RULE,
    node_multi_card.RULE,
)
"""Node rules, in the order in which findings are shown."""

NODE_CHANGE_RULES: tuple[NodeChangeRule, ...] = (node_mode_switch.RULE, node_mode_value.RULE)
"""Rules about updates of Node objects, in the order in which findings are shown."""
