"""The shapes in which kernels of this package pass arrays, for their signatures.

Recast records are *boxes*: over interval columns the lowest and highest coordinate, over set
columns a bit for each label. *Points* are boxes of no extent: one coordinate, one bit.
"""

LONGS = "int64[::1]"
LONG_ROWS = "int64[:,::1]"
MASK_ROWS = "uint64[:,::1]"
MATCHES = "int32[:,::1]"
POINTS = f"{LONG_ROWS}, {MASK_ROWS}"  # coordinates, labels
BOXES = f"{LONG_ROWS}, {LONG_ROWS}, {MASK_ROWS}"  # lows, highs, labels
STEPS = f"{LONGS}, {LONGS}"  # loss of a further label of each set column, its first word
NODES = f"{LONGS}, {LONGS}, {LONGS}"  # first record, end, left child of each node of a tree
