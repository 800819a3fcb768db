"""Manifests as files: YAML and JSON with the line of every object. The border of the core."""
