"""The client and the node snapshot against the real API server."""
