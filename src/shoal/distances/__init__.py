"""Semantic distances between sensitive values, as small immutable objects."""

from shoal.names import namespace

namespace(__name__)
