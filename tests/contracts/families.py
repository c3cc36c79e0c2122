"""One of every principle about how values are distributed, as tests ask for them."""

import shoal

PATHS = [
    ["0", "low", "*"],
    ["1", "low", "*"],
    ["2", "high", "*"],
    ["3", "high", "*"],
    ["4", "4", "*"],
]
TREE = shoal.Hierarchical(levels=tuple(map(tuple, PATHS)))
DISTRIBUTIONAL = [
    shoal.DistinctL(l=3),
    shoal.EntropyL(l=2.5),
    shoal.RecursiveCL(c=1.5, l=2),
    shoal.TCloseness(t=0.3),
    shoal.TCloseness(t=0.2, ground="ordered"),
    shoal.TCloseness(t=0.3, ground=TREE),
    shoal.KE(k=2, e=3),
    shoal.Variance(at_least=1.5),
    shoal.DeltaDisclosure(delta=0.9),
    shoal.BetaLikeness(beta=0.8),
    shoal.BetaLikeness(beta=1.2, enhanced=True),
]
