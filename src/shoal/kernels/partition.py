"""The partition step: a bucket becomes parts in which no two members are proximate.

EM Theorem 1: deal the sorted bucket into g = maxsize parts in turn, and members of one part stand
at least g places apart. The dealing can be freed: taken in runs of g, member p of a run may join
any part that received one of the members 0..p of the run before, so the order within a run can be
chosen by loss. That is a cheapest assignment of few rows to few columns.
"""

import numpy as np

from shoal.kernels.compiling import Bytes, Ints, LongInts, Reals, compiled
from shoal.kernels.cuts import select
from shoal.kernels.space import SET, extent
from shoal.kernels.windows import longest_run, most_proximate

FORBIDDEN = np.inf


@compiled("void(float64[:,::1], int64, int64, int64[::1])")
def cheapest_assignment(costs: Reals, rows: int, columns: int, chosen: LongInts) -> None:
    """Choose for each row a column of its own so that the sum of costs is least.

    Shortest augmenting paths with potentials (Jonker and Volgenant), O(rows * columns**2). The
    caller vouches that a perfect assignment over finite costs exists. IN: costs[:rows, :columns],
    rows <= columns; OUT: chosen[row].
    """
    row_price = np.zeros(rows + 1)
    column_price = np.zeros(columns + 1)
    owner = np.full(columns + 1, rows, np.int64)  # the last column is a stand-in for "no column"
    came_from = np.empty(columns + 1, np.int64)
    for row in range(rows):
        owner[columns] = row
        column = columns
        slack = np.full(columns + 1, np.inf)
        visited = np.zeros(columns + 1, np.bool_)
        while owner[column] != rows:
            visited[column] = True
            here = owner[column]
            step, following = np.inf, columns
            for other in range(columns):
                if visited[other]:
                    continue
                reduced = costs[here, other] - row_price[here] - column_price[other]
                if reduced < slack[other]:
                    slack[other] = reduced
                    came_from[other] = column
                if slack[other] < step:
                    step, following = slack[other], other
            for other in range(columns + 1):
                if visited[other]:
                    row_price[owner[other]] += step
                    column_price[other] -= step
                else:
                    slack[other] -= step
            column = following
        while column != columns:
            before = came_from[column]
            owner[column] = owner[before]
            column = before
    for column in range(columns):
        if owner[column] < rows:
            chosen[owner[column]] = column


EXACT = 32  # runs up to this long are matched exactly; the cost grows with its square
POOL = 256  # longer runs look at no more parts than this for each member


@compiled(
    "void(int32[::1], int64[::1], int32[::1], int32[::1], int32[::1], int64, int32[::1])",
)
def deal_round_robin(
    codes: Ints,
    starts: LongInts,
    first: Ints,
    last: Ints,
    reach: Ints,
    share: int,
    labels: Ints,
) -> None:
    """Keep a bucket that holds, deal any other into maxsize parts in turn (EM section 5.2).

    IN: codes ascending in each bucket, starts, first, last, reach, share (the m of the principle).
    OUT: labels, the place of the first row of the bucket plus the number of the part.
    """
    count = np.empty(1, np.int64)
    one = np.empty(2, np.int64)
    for bucket in range(starts.size - 1):
        start, stop = starts[bucket], starts[bucket + 1]
        one[0], one[1] = 0, stop - start
        most_proximate(codes[start:stop], one, first, last, count)
        parts = 1
        if count[0] * share > stop - start:
            parts = longest_run(codes[start:stop], reach)
        for row in range(start, stop):
            labels[row] = start + (row - start) % parts


@compiled(
    "float64(int32[:,::1], int64, int64[::1], int64, int32[:,::1], int32[:,::1], int8[::1],"
    " float64[::1], int64[::1], float64[::1])",
)
def joined_extent(
    ranks: Ints,
    row: int,
    members: LongInts,
    size: int,
    low: Ints,
    high: Ints,
    kinds: Bytes,
    coords: Reals,
    offsets: LongInts,
    units: Reals,
) -> float:
    """Return the sum of NCP of a part after `row` has joined it.

    `low[0]`, `high[0]` hold the ranks an interval column spans, and for a set column its number of
    labels in `high[0]` (IN). Parts are small, so a label is looked for among the members.
    """
    total = 0.0
    for column in range(ranks.shape[1]):
        rank = ranks[row, column]
        if kinds[column] == SET:
            distinct = high[0, column] + 1
            for member in range(size):
                if ranks[members[member], column] == rank:
                    distinct -= 1
                    break
            total += extent(column, 0, 0, distinct, kinds, coords, offsets, units)
        else:
            total += extent(
                column,
                min(low[0, column], rank),
                max(high[0, column], rank),
                0,
                kinds,
                coords,
                offsets,
                units,
            )
    return total


@compiled(
    "void(int32[:,::1], int32[::1], int32[::1], int64, int8[::1], float64[::1], int64[::1],"
    " float64[::1], int64[:,::1], int64[::1])",
)
def deal_by_loss(
    ranks: Ints,
    codes: Ints,
    reach: Ints,
    parts: int,
    kinds: Bytes,
    coords: Reals,
    offsets: LongInts,
    units: Reals,
    members: LongInts,
    sizes: LongInts,
) -> None:
    """Deal one sorted bucket into `parts` parts, run by run, at the least added loss.

    All parts of a run have one size, so the least sum of joined extents is the least added loss.
    IN: ranks, codes ascending, reach, parts >= maxsize. OUT: members[part, :sizes[part]].
    """
    size, columns = ranks.shape
    low = np.empty((parts, columns), np.int32)
    high = np.empty((parts, columns), np.int32)
    exact = parts <= EXACT
    costs = np.empty((parts, parts) if exact else (1, 1), np.float64)
    chosen = np.arange(parts)
    arrived = np.arange(parts)  # which part received member p of the run before
    pool = np.empty(parts, np.int64)
    for part in range(parts):
        sizes[part] = 0
    for begin in range(0, size, parts):
        length = min(parts, size - begin)
        if begin > 0 and exact:
            for place in range(length):
                row = begin + place
                for part in range(parts):
                    if codes[row] <= reach[codes[members[part, sizes[part] - 1]]]:
                        costs[place, part] = FORBIDDEN
                    else:
                        costs[place, part] = joined_extent(
                            ranks,
                            row,
                            members[part],
                            sizes[part],
                            low[part : part + 1],
                            high[part : part + 1],
                            kinds,
                            coords,
                            offsets,
                            units,
                        )
            cheapest_assignment(costs, length, parts, chosen)
        elif begin > 0:
            waiting = 0
            for place in range(length):
                pool[waiting] = arrived[place]
                waiting += 1
                best, least = waiting - 1, np.inf
                for candidate in range(max(0, waiting - POOL), waiting):
                    part = pool[candidate]
                    cost = joined_extent(
                        ranks,
                        begin + place,
                        members[part],
                        sizes[part],
                        low[part : part + 1],
                        high[part : part + 1],
                        kinds,
                        coords,
                        offsets,
                        units,
                    )
                    if cost < least:
                        best, least = candidate, cost
                chosen[place] = pool[best]
                waiting -= 1
                pool[best] = pool[waiting]
        for place in range(length):
            part, row = chosen[place], begin + place
            arrived[place] = part
            for column in range(columns):
                rank = ranks[row, column]
                if kinds[column] == SET:
                    known = False
                    for member in range(sizes[part]):
                        known |= ranks[members[part, member], column] == rank
                    low[part, column] = 0
                    high[part, column] = (high[part, column] if begin else 0) + (not known)
                else:
                    low[part, column] = min(low[part, column], rank) if begin else rank
                    high[part, column] = max(high[part, column], rank) if begin else rank
            members[part, sizes[part]] = row
            sizes[part] += 1


@compiled("void(int32[:,::1], int64[::1], int64, int64, int64, int64)")
def cut_in_two(
    ranks: Ints, members: LongInts, start: int, middle: int, stop: int, column: int
) -> None:
    """Order members start..stop so that the lower ranks stand before `middle` (IN/OUT: members).

    Members of the rank that is cut through go to either side in their order.
    """
    size = stop - start
    keys = np.empty(size, np.int32)
    for place in range(size):
        keys[place] = ranks[members[start + place], column]
    pivot = select(keys, size, middle - start)
    spare = middle - start
    for place in range(start, stop):
        spare -= ranks[members[place], column] < pivot
    ordered = np.empty(size, np.int64)
    left, right = 0, middle - start
    for place in range(start, stop):
        rank = ranks[members[place], column]
        first = rank < pivot
        if rank == pivot and spare > 0:
            first = True
            spare -= 1
        if first:
            ordered[left] = members[place]
            left += 1
        else:
            ordered[right] = members[place]
            right += 1
    for place in range(size):
        members[start + place] = ordered[place]


@compiled(
    "int64(int32[:,::1], int64[::1], int64, int64, int8[::1], float64[::1], int64[::1],"
    " float64[::1], int32[::1])",
)
def halve(
    ranks: Ints,
    members: LongInts,
    least: int,
    label: int,
    kinds: Bytes,
    coords: Reals,
    offsets: LongInts,
    units: Reals,
    labels: Ints,
) -> int:
    """Cut a part without proximate members in halves of at least `least` rows, while that pays.

    Any cut keeps the guarantee, so ties are cut through: the widest column, in the middle.
    IN/OUT: members, reordered. OUT: labels of the members, counted from `label`; returns the next.
    """
    stack = np.empty((128, 2), np.int64)
    stack[0, 0], stack[0, 1] = 0, members.size
    depth = 1
    while depth > 0:
        depth -= 1
        start, stop = stack[depth, 0], stack[depth, 1]
        widest, width = -1, 0.0
        if stop - start >= 2 * least:
            for column in range(ranks.shape[1]):
                low = high = ranks[members[start], column]
                for place in range(start, stop):
                    low = min(low, ranks[members[place], column])
                    high = max(high, ranks[members[place], column])
                span = extent(column, low, high, high - low + 1, kinds, coords, offsets, units)
                if span > width:
                    widest, width = column, span
        if widest < 0:
            for place in range(start, stop):
                labels[members[place]] = label
            label += 1
            continue
        middle = (start + stop) // 2
        cut_in_two(ranks, members, start, middle, stop, widest)
        stack[depth, 0], stack[depth, 1] = start, middle
        stack[depth + 1, 0], stack[depth + 1, 1] = middle, stop
        depth += 2
    return label


@compiled(
    "void(int32[:,::1], int32[::1], int64[::1], int32[::1], int64, int8[::1], float64[::1],"
    " int64[::1], float64[::1], int32[::1], int64[::1])",
)
def deal_cheapest(
    ranks: Ints,
    codes: Ints,
    starts: LongInts,
    reach: Ints,
    least: int,
    kinds: Bytes,
    coords: Reals,
    offsets: LongInts,
    units: Reals,
    labels: Ints,
    done: LongInts,
) -> None:
    """Divide every bucket as far as the guarantee allows, at the least added loss.

    IN: ranks, codes ascending in each bucket, starts, reach, least (the least size of a part).
    OUT: labels as in `deal_round_robin`; done[0], rows dealt.
    """
    for bucket in range(starts.size - 1):
        start, stop = starts[bucket], starts[bucket + 1]
        parts = longest_run(codes[start:stop], reach)
        members = np.empty((parts, (stop - start + parts - 1) // parts), np.int64)
        sizes = np.empty(parts, np.int64)
        deal_by_loss(
            ranks[start:stop],
            codes[start:stop],
            reach,
            parts,
            kinds,
            coords,
            offsets,
            units,
            members,
            sizes,
        )
        label = start
        for part in range(parts):
            label = halve(
                ranks[start:stop],
                members[part, : sizes[part]],
                least,
                label,
                kinds,
                coords,
                offsets,
                units,
                labels[start:stop],
            )
        done[0] += stop - start
