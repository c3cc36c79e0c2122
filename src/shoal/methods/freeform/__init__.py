"""Heterogeneous generalization: every record recast on its own (HK)."""
