"""The permissions in deploy/rbac.yaml against the real API server."""
