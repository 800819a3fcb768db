"""The decision core: values and pure functions, no I/O."""
