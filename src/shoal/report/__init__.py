"""Evidence for people: first a dictionary of plain values, then views of it."""
