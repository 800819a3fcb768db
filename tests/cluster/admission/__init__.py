"""A person with kubectl, a real API server and our webhook as a process: what gets in, and what is said."""
