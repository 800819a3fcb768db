"""Tests of the manifest readers."""
