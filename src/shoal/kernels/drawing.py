"""Numbers drawn at random, of its own because loops of several kinds draw them."""

import numpy as np

from shoal.kernels.compiling import inner


@inner
def drawn(chance):
    """Return a number from 0 up to 1 (xorshift64*; Vigna, 2016). IN/OUT: chance, never 0."""
    state = chance[0]
    state ^= state >> np.uint64(12)
    state ^= state << np.uint64(25)
    state ^= state >> np.uint64(27)
    chance[0] = state
    mixed = state * np.uint64(2685821657736338717)
    return np.float64(mixed >> np.uint64(11)) / 9007199254740992.0  # 53 bits, over 2**53
