"""One of every principle about how values are distributed, as tests ask for them."""

import shoal

PATHS = [
    ["0", "low", "*"],
    ["1", "low", "*"],
    ["2", "high", "*"],
    ["3", "high", "*"],
    ["4", "4", "*"],
]
TREE = shoal.distances.Hierarchical(levels=tuple(map(tuple, PATHS)))
DISTRIBUTIONAL = [
    shoal.principles.DistinctL(l=3),
    shoal.principles.EntropyL(l=2.5),
    shoal.principles.RecursiveCL(c=1.5, l=2),
    shoal.principles.TCloseness(t=0.3),
    shoal.principles.TCloseness(t=0.2, ground="ordered"),
    shoal.principles.TCloseness(t=0.3, ground=TREE),
    shoal.principles.KE(k=2, e=3),
    shoal.principles.Variance(at_least=1.5),
    shoal.principles.DeltaDisclosure(delta=0.9),
    shoal.principles.BetaLikeness(beta=0.8),
    shoal.principles.BetaLikeness(beta=1.2, enhanced=True),
]
