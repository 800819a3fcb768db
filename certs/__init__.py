"""Certificates: what is there, what is due, and who makes it."""
