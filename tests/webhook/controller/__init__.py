"""The controller without an API server, and the contract of what stands in for one."""
