"""The registration on a real API server: which hooks it calls for what, and what happens without them."""
