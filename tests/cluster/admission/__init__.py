"""A person with kubectl, a real API server, our webhook as a process: what comes in, what is refused, what is said."""
