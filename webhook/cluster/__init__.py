"""The API server as a client sees it: requests, watches, and the live snapshot of the nodes."""
