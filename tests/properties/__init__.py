"""Properties of the decision core that must hold for every pod, checked on generated ones."""
