"""Tests of the API server's client and of the live node snapshot."""
