"""Tests of the webhook, file by file."""
