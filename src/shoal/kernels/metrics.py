"""The metrics of vectors as numbers, of its own so that distances know them without compiling."""

MANHATTAN, EUCLID, LARGEST, SMALLEST = 1, 2, 3, 4
