"""One Hypothesis profile for all property tests: no deadlines, machines are noisy."""

from hypothesis import settings

settings.register_profile("shoal", deadline=None, max_examples=150)
settings.load_profile("shoal")
