"""Tests of the whole product on a control plane of their own, with the real scheduler and with faults."""
