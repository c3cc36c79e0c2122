"""Slow oracles: the papers' definitions in plain Python, never importing shoal."""
