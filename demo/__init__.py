"""`make demo`: the webhook on loopback, real pods, and the answers a person would see."""
