"""What must hold, as immutable objects that measure groups."""
