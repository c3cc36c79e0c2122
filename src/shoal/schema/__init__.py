"""From a table to arrays: reading, roles, and the immutable coded table."""
