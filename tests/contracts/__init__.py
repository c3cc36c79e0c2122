"""Contracts of families, inherited by a test of each member."""
