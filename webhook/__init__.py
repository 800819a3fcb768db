"""The admission webhook: bytes in, one decision, bytes out."""
