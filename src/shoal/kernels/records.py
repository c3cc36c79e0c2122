"""One pass over the bytes of a CSV file, to see that every record has as many fields as the header.

Frame libraries fill short records with nulls without a word; a truncated file must not pass so.
"""

import numpy as np
from numba import int64, njit, types, uint8, void
from numpy.typing import NDArray

from shoal.kernels.arrays import LongInts

QUOTE, NEWLINE = 34, 10
FILE = types.Array(uint8, 1, "C", readonly=True)  # the bytes of a file cannot be written to


@njit(void(FILE, int64, int64, int64[::1]), cache=True, nogil=True)
def scan_records(data: NDArray[np.uint8], fields: int, separator: int, found: LongInts) -> None:
    """Look for the first record whose number of fields is not `fields`.

    IN: data without trailing newlines. OUT: found = number of records, first bad record from 0
    (-1: none), its number of fields, and whether a quote was left open at the end.
    """
    quoted = False
    records = 0
    here = 1
    found[1] = -1
    for place in range(data.size):
        byte = data[place]
        if byte == QUOTE:
            quoted = not quoted
        elif not quoted:
            if byte == separator:
                here += 1
            elif byte == NEWLINE:
                if here != fields and found[1] < 0:
                    found[1], found[2] = records, here
                records += 1
                here = 1
    if data.size:
        if here != fields and found[1] < 0:
            found[1], found[2] = records, here
        records += 1
    found[0] = records
    found[3] = quoted
