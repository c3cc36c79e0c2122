"""Semantic distances between sensitive values, as small immutable objects."""
