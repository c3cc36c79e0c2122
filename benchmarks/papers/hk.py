"""The methods of the heterogeneous paper on one table, measured once for both of its figures."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

from subjects import clocked, loss, people

import shoal
from shoal.methods.base import Method, Task
from shoal.principles.requirement import requirements
from shoal.table.coded import code_table

METHODS: dict[str, Method] = {
    "Mondrian": shoal.methods.Mondrian(relaxed=True),
    "Split": shoal.methods.Split(),  # the stronger rival: it cuts where the loss is least
    "Ring": shoal.methods.Ring(),
    "Freeform, greedy": shoal.methods.Freeform(assignment="greedy"),
    "Freeform, sort": shoal.methods.Freeform(assignment="sort"),
    "Freeform, exact": shoal.methods.Freeform(),
}
NAMES = {  # what the graphs are called
    "Freeform, greedy": "Greedy",
    "Freeform, sort": "SortGreedy",
    "Freeform, exact": "optimal assignments",
}
SHARES = (0.125, 0.25, 0.5, 1.0)  # of the rows
K = 10


@cache
def measured(size: int, k: int) -> list[dict[str, Any]]:
    """Return loss and time of every method on so many rows."""
    subject = people(size)
    coded = code_table(subject.frame, subject.schema)
    _ = coded.space
    task = Task(coded, tuple(requirements(shoal.principles.KAnonymity(k=k), [])))
    records = []
    for name, method in METHODS.items():
        found, seconds = clocked(partial(method.search, task))
        records.append(
            {
                "table": subject.source,
                "size": size,
                "k": k,
                "method": name,
                "gcp": loss(coded, found),
                "seconds": seconds,
                "lexsorts": seconds / subject.lexsort,
            }
        )
    return records
