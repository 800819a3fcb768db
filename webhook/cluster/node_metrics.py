"""What Prometheus learns of the live node snapshot; only a process that watches has these metrics."""

from prometheus_client import CollectorRegistry, Counter, Gauge


class NodeMetrics:
    """The metrics of one process's watch; of several processes the worst is shown."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.age_seconds = Gauge(
            "mgpu_hybrid_node_snapshot_age_seconds",
            "Seconds since the API server was heard last about the nodes.",
            registry=registry,
            multiprocess_mode="livemax",
        )
        self.malformed = Gauge(
            "mgpu_hybrid_malformed_nodes",
            "Nodes left out of the snapshot because they cannot be read.",
            registry=registry,
            multiprocess_mode="livemax",
        )
        self.restarts = Counter(
            "mgpu_hybrid_node_watch_restarts",
            "Watches that ended badly: gone, unavailable, refused, unreadable, short, settings, fault.",
            ("reason",),
            registry=registry,
        )
