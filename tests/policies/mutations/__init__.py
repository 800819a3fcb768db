"""Tests of the mutations, one file per mutation."""
