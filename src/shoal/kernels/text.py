"""Loops over characters: the fields of a CSV file's records, and edit distances of short strings.

One pass over the bytes of a file sees whether records have as many fields as the header, and where
a part of the file can end: frame libraries fill short records with nulls without a word, and a
truncated file must not pass so.
"""

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.compiling import Ints, LongInts, Reals, compiled

QUOTE, NEWLINE, RETURN = 34, 10, 13
FILE = "Array(uint8, 1, 'C', readonly=True)"  # the bytes of a file cannot be written to


@compiled(f"void({FILE}, int64, int64, int64, int64[::1])")
def scan_records(
    data: NDArray[np.uint8], fields: int, separator: int, last: int, found: LongInts
) -> None:
    """Look for the first record whose number of fields is not `fields`.

    IN: data from the beginning of a record; the last part of a file comes without its trailing
    newlines. OUT: found = number of records, first bad record from 0 (-1: none), its number of
    fields, whether a quote was left open at the end, and where the records end that were looked
    at: in the last part at its end, in others before the last record that is not known to be
    whole. No part but the first begins with a line break, so that those at the end of the file
    stay together.
    """
    quoted = False
    records = 0
    here = 1
    bad, wrong = -1, 0
    found[0], found[1], found[2], found[4] = 0, -1, 0, 0
    size = data.size
    for place in range(size):
        byte = data[place]
        if byte == QUOTE:
            quoted = not quoted
        elif not quoted:
            if byte == separator:
                here += 1
            elif byte == NEWLINE:
                if here != fields and bad < 0:
                    bad, wrong = records, here
                records += 1
                here = 1
                if place + 1 < size and data[place + 1] != NEWLINE and data[place + 1] != RETURN:
                    found[0], found[1], found[2], found[4] = records, bad, wrong, place + 1
    found[3] = quoted
    if last and size:
        if here != fields and bad < 0:
            bad, wrong = records, here
        found[0], found[1], found[2], found[4] = records + 1, bad, wrong, size


@compiled("void(int32[:,::1], int64[::1], int64[::1], int64[::1], float64[::1])")
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
