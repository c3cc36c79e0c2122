"""Loops of heterogeneous generalization: boxes that cover records, and searches over them."""
