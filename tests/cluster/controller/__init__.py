"""The controller against the real API server."""
