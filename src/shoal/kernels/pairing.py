"""Who of a group goes with which of its values, by what all groups tell together.

The people of group g are starts[g] … starts[g + 1] - 1 of one table, and `bands[c, i]` is the band
of person i in column c. Its values stand in bands too: those that it has are slots[g] …
slots[g + 1] - 1, each with its band (`held`) and the number of the group's values in it (`filled`).
`weights[i]` says how many of its values person i is due beside the others of the group, all alike
or not; where people are places of a cell, these are the rows that lie there.
`likings[c, b, s]` says by how much a person in band b of column c is rather found with a value in
band s; the likings of a person's bands are multiplied.
"""

import numpy as np

from shoal.kernels.compiling import Ints, LongInts, Reals, compiled, inner
from shoal.kernels.queries import mark_rows

Singles = np.ndarray
Marks = np.ndarray
CLOSE = 1e-9  # to the number of values, at which a group is left


@inner
def pair_group(
    begin: int,
    end: int,
    first: int,
    last: int,
    bands: Ints,
    weights: Reals,
    held: Ints,
    filled: LongInts,
    likings: Reals,
    rounds: int,
    pairs: Reals,
) -> None:
    """Share out the values of a group among its people (OUT: pairs, a person after the other).

    Likings are scaled, values and people in turn, until everybody has what is due and all values
    are given away (Deming, Stephan: On a Least Squares Adjustment of a Sampled Frequency
    Table. Annals of Mathematical Statistics 1940), or for so many rounds.
    """
    people, width = end - begin, last - first
    total = 0
    for slot in range(width):
        total += filled[first + slot]
    due = 0.0
    for person in range(begin, end):
        due += weights[person]
    for person in range(people):
        for slot in range(width):
            liking = 1.0
            for column in range(bands.shape[0]):
                liking *= likings[column, bands[column, begin + person], held[first + slot]]
            pairs[person * width + slot] = liking
    for _ in range(rounds):
        furthest = 0.0
        for slot in range(width):
            given = 0.0
            for person in range(people):
                given += pairs[person * width + slot]
            factor = filled[first + slot] / given
            furthest = max(furthest, abs(factor - 1.0))
            for person in range(people):
                pairs[person * width + slot] *= factor
        for person in range(people):
            taken = 0.0
            for slot in range(width):
                taken += pairs[person * width + slot]
            factor = total * weights[begin + person] / due / taken
            for slot in range(width):
                pairs[person * width + slot] *= factor
        if furthest < CLOSE:
            break


@compiled(
    "void(int64[::1], int64, int64[::1], int64[::1], int32[:,::1], float64[::1], int32[::1], "
    "int64[::1], float64[:,:,::1], int64, float64[::1], float64[:,:,::1])"
)
def learn_pairs(
    groups: LongInts,
    shift: int,
    starts: LongInts,
    slots: LongInts,
    bands: Ints,
    weights: Reals,
    held: Ints,
    filled: LongInts,
    likings: Reals,
    rounds: int,
    pairs: Reals,
    found: Reals,
) -> None:
    """Add up how many values of band s people in band b of column c have, in some groups.

    The values are those of the group that stands `shift` places further in the list of groups
    (OUT: found[c, b, s]; pairs is scratch).
    """
    found[:] = 0.0
    for number in range(groups.size):
        group, other = groups[number], groups[(number + shift) % groups.size]
        begin, end, first, last = starts[group], starts[group + 1], slots[other], slots[other + 1]
        pair_group(begin, end, first, last, bands, weights, held, filled, likings, rounds, pairs)
        place = 0
        for person in range(begin, end):
            for slot in range(first, last):
                for column in range(bands.shape[0]):
                    found[column, bands[column, person], held[slot]] += pairs[place]
                place += 1


@compiled(
    "void(int64[::1], int64[::1], int64[::1], int64[::1], int32[:,::1], float64[::1], "
    "float64[:,:,::1], float64[::1], float64[::1], float64[:,:,::1])"
)
def expect_pairs(
    groups: LongInts,
    starts: LongInts,
    slots: LongInts,
    filled: LongInts,
    bands: Ints,
    weights: Reals,
    likings: Reals,
    usual: Reals,
    chances: Reals,
    found: Reals,
) -> None:
    """Add up how many values of band s likings alone give to people in band b of column c.

    A person has a value in band s with a chance in proportion to its share of all values (`usual`)
    times the likings (OUT: found[c, b, s]; chances is scratch).
    """
    found[:] = 0.0
    for group in groups:
        values = 0
        for slot in range(slots[group], slots[group + 1]):
            values += filled[slot]
        due = 0.0
        for person in range(starts[group], starts[group + 1]):
            due += weights[person]
        for person in range(starts[group], starts[group + 1]):
            for band in range(usual.size):
                chances[band] = usual[band]
            for column in range(bands.shape[0]):
                own = likings[column, bands[column, person]]
                for band in range(usual.size):
                    chances[band] *= own[band]
            total = 0.0
            for band in range(usual.size):
                total += chances[band]
            for column in range(bands.shape[0]):
                own = found[column, bands[column, person]]
                for band in range(usual.size):
                    own[band] += values * weights[person] / due * chances[band] / total


@compiled(
    "void(int64[::1], int64[::1], int32[:,::1], float64[::1], int32[::1], int64[::1], "
    "float64[:,:,::1], int64, float64[::1], float32[::1])"
)
def pair_all(
    starts: LongInts,
    slots: LongInts,
    bands: Ints,
    weights: Reals,
    held: Ints,
    filled: LongInts,
    likings: Reals,
    rounds: int,
    pairs: Reals,
    every: Singles,
) -> None:
    """Share out the values of all groups, one group after the other (OUT: every)."""
    place = 0
    for group in range(starts.size - 1):
        begin, end, first, last = starts[group], starts[group + 1], slots[group], slots[group + 1]
        pair_group(begin, end, first, last, bands, weights, held, filled, likings, rounds, pairs)
        for pair in range((end - begin) * (last - first)):
            every[place] = pairs[pair]
            place += 1


@compiled(
    "float64(int64[::1], int32[:,::1], int64[::1], int32[::1], int32[::1], "
    "int64[::1], int32[:,::1], int64[::1], int32[::1], int32[::1], "
    "int64[::1], int64[::1], int32[::1], float32[::1], float64[::1], "
    "uint8[:,::1], uint8[:,::1], float64[::1])"
)
def paired_count(
    starts: LongInts,
    codes: Ints,
    ranges: LongInts,
    firsts: Ints,
    lasts: Ints,
    value_starts: LongInts,
    value_codes: Ints,
    value_ranges: LongInts,
    value_firsts: Ints,
    value_lasts: Ints,
    slots: LongInts,
    filled: LongInts,
    slot_of: Ints,
    every: Singles,
    weights: Reals,
    marks: Marks,
    value_marks: Marks,
    asked: Reals,
) -> float:
    """Return how many values a query asks for in people that it asks for, weighed by group.

    People and values come as in `mark_rows`; `slot_of` says in which of its group's slots a value
    is, and `every` what `pair_all` found. Scratch are both marks, two a row, and `asked`, as many
    as a group may have slots.
    """
    mark_rows(codes, 0, codes.shape[1], ranges, firsts, lasts, marks)
    mark_rows(
        value_codes, 0, value_codes.shape[1], value_ranges, value_firsts, value_lasts, value_marks
    )
    found, place = 0.0, 0
    for group in range(starts.size - 1):
        width = slots[group + 1] - slots[group]
        asked[:width] = 0.0
        wanted = 0
        for value in range(value_starts[group], value_starts[group + 1]):
            asked[slot_of[value]] += value_marks[0, value]
            wanted += value_marks[0, value]
        if wanted > 0:
            for slot in range(width):
                asked[slot] /= filled[slots[group] + slot]
            for person in range(starts[group], starts[group + 1]):
                if marks[0, person]:
                    own = place + (person - starts[group]) * width
                    for slot in range(width):
                        found += weights[group] * every[own + slot] * asked[slot]
        place += (starts[group + 1] - starts[group]) * width
    return found


@compiled("void(int64[::1], int64[::1], int64[::1], float32[::1], float64[::1], float64[::1])")
def keep_placed(
    starts: LongInts,
    slots: LongInts,
    filled: LongInts,
    every: Singles,
    marks: Reals,
    asked: Reals,
) -> None:
    """Leave of the rows of each slot those that lie in the marked part of their box.

    People are the places of boxes here, `marks[i]` is the part of place i that a query asks for,
    and `every` what `pair_all` found (INOUT: asked, rows by slot).
    """
    place = 0
    for box in range(starts.size - 1):
        width = slots[box + 1] - slots[box]
        for slot in range(slots[box], slots[box + 1]):
            own = place + slot - slots[box]
            inside = 0.0
            for spot in range(starts[box], starts[box + 1]):
                inside += marks[spot] * every[own]
                own += width
            asked[slot] *= inside / filled[slot]
        place += (starts[box + 1] - starts[box]) * width
