"""Edit distances of short strings held as rows of character codes."""

import numpy as np
from numba import njit

from shoal.kernels.arrays import Ints, LongInts, Reals


@njit(
    "void(int32[:,::1], int64[::1], int64[::1], int64[::1], float64[::1])", cache=True, nogil=True
)
def edit_distances(
    letters: Ints, lengths: LongInts, left: LongInts, right: LongInts, found: Reals
) -> None:
    """Count the least edits from one string of each pair to the other (Wagner and Fischer).

    IN: letters, lengths, left, right (rows of letters). OUT: found.
    """
    costs = np.empty(letters.shape[1] + 1, np.int64)
    for pair in range(left.size):
        one, two = left[pair], right[pair]
        for place in range(lengths[two] + 1):
            costs[place] = place
        for here in range(lengths[one]):
            diagonal = costs[0]
            costs[0] = here + 1
            for there in range(lengths[two]):
                kept = diagonal + (letters[one, here] != letters[two, there])
                diagonal = costs[there + 1]
                costs[there + 1] = min(kept, costs[there] + 1, costs[there + 1] + 1)
        found[pair] = costs[lengths[two]]
