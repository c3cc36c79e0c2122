"""Who in a group has which value, drawn by a model; apart, because only estimates load it.

The model says of a member with scores s that a value whose functions are a is exp(s · a) times as
likely as its share. So two members who exchange their values are (s_i - s_j) · (a_j - a_i) more
likely, in logarithms, and a swap is carried out with that chance (Metropolis et al., 1953).
"""

import numpy as np

from shoal.kernels.compiling import compiled
from shoal.kernels.drawing import drawn


@compiled("void(int32[::1], int64[::1], float64[:,::1], float64[:,::1], int64, uint64[::1])")
def swap_within(order, starts, scores, functions, sweeps, chance):
    """Swap values between members of one group, so many times as there are members, `sweeps` times.

    IN: starts, where the members of each group begin; scores, of each member; functions, of each
    value. IN/OUT: order, the value of each member; chance, the state of the generator.
    """
    width = scores.shape[1]
    for group in range(starts.size - 1):
        begin, size = starts[group], starts[group + 1] - starts[group]
        if size < 2:
            continue
        for _ in range(size * sweeps):
            i = begin + np.int64(drawn(chance) * size)
            j = begin + np.int64(drawn(chance) * (size - 1))
            j += j >= i
            mine, other = order[i], order[j]
            gain = 0.0
            for k in range(width):
                gain += (scores[i, k] - scores[j, k]) * (functions[other, k] - functions[mine, k])
            if gain >= 0.0 or drawn(chance) < np.exp(gain):
                order[i], order[j] = other, mine
