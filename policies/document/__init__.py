"""The policy as a file: models, checks, and every mistake with its line. The border of the core."""
