"""What an exact round is given: pairs within a block, pairs across borders, a first assignment."""

from shoal.kernels.freeform.boxes import SHIFT
from shoal.kernels.freeform.layouts import LONG_ROWS, LONGS, MATCHES
from shoal.kernels.freeform.nearest import is_listed
from shoal.kernels.lean import lean_as


@lean_as(
    f"int64({LONGS}, {LONG_ROWS}, int32[::1], {LONGS}, int32[::1], int32[::1], int64, {LONG_ROWS})"
)
def list_arcs(members, keys, held, costs, owner, place, number, arcs):
    """List the pairs inside one block in `arcs` (OUT: box, original, loss); return their number."""
    n = len(owner)
    count = 0
    for row in range(len(members)):
        box = members[row]
        arcs[0, count], arcs[1, count], arcs[2, count] = row, place[held[row]], costs[box]
        count += 1
        for key in keys[box]:
            original = (box + (key & ((1 << SHIFT) - 1))) % n
            if owner[original] == number and original != held[row]:
                arcs[0, count], arcs[1, count], arcs[2, count] = row, place[original], key >> SHIFT
                count += 1
    return count


@lean_as(f"void({LONG_ROWS}, {LONGS}, {LONGS}, int32[::1], boolean[::1])")
def mark_seam(keys, costs, holder, home, near):
    """Mark in `near` (OUT) both ends of pairs across a border, cheaper than what the box has."""
    n = len(holder)
    for box in range(n):
        for key in keys[box]:
            if key >> SHIFT >= costs[box]:
                break
            original = (box + (key & ((1 << SHIFT) - 1))) % n
            if home[holder[original]] != home[box]:
                near[box] = True
                near[holder[original]] = True


@lean_as(f"void({MATCHES}, {LONGS}, int32[::1])")
def spare_assignment(matches, members, assignment):
    """Fill `assignment` (OUT) with one that is disjoint from `matches`: a ring with repairs.

    Box j starts with original j + 1. Where that pair is used, j changes partners with the next box
    for which both new pairs are free. Each box forbids at most `used` partners and each original at
    most `used` boxes, so with n >= 4 * (used + 1) there always is one.
    """
    used = matches.shape[1]
    n = len(members)
    for place in range(n):
        assignment[members[place]] = members[(place + 1) % n]
    for place in range(n):
        box = members[place]
        for ahead in range(1, n):
            held = assignment[box]
            if not is_listed(matches, box, used, held):
                break
            other = members[(place + ahead) % n]
            offered = assignment[other]
            if not is_listed(matches, box, used, offered) and not is_listed(
                matches, other, used, held
            ):
                assignment[box], assignment[other] = offered, held
