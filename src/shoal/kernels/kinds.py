"""The kinds of demands that a bucket may have to keep (`kernels/demands.py`), as numbers."""

RUN, DISTINCT, ENTROPY, RECURSIVE, APART, ORDERED = range(6)
SPREAD, VARIANCE, DISCLOSURE, LIKENESS = range(6, 10)
