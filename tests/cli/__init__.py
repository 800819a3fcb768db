"""Tests of the command line: as a function for tables, as a process for what only a process has."""
