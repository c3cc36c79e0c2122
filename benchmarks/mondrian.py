"""How fast `Mondrian` is and what it loses: python benchmarks/mondrian.py.

Searches are timed on coded tables and measured afterwards; the targets are 6 times the yardstick
for k-anonymity and 60 times for t-closeness and entropy l-diversity.
"""

from __future__ import annotations

import numpy as np
from common import clock, gcp, load, peak_gigabytes, show, yardstick

import shoal
from shoal.kernels import load_all
from shoal.methods.base import Method, Task
from shoal.principles.requirement import requirements
from shoal.table.coded import Coded, code_table

QUASI = ["age", "puma", "occupation"]
PLAIN, LOSS = shoal.methods.Mondrian(), shoal.methods.Mondrian(split="least-loss")
RELAXED = shoal.methods.Mondrian(relaxed=True)
CASES: list[tuple[list[str], Method]] = [
    (["KAnonymity(k=10)"], PLAIN),
    (["KAnonymity(k=10)"], LOSS),
    (["KAnonymity(k=10)"], RELAXED),
    (["FrequencyL(l=5)"], PLAIN),
    (["DistinctL(l=10)"], PLAIN),
    (["EntropyL(l=10)"], PLAIN),
    (["EntropyL(l=10)"], LOSS),
    (["RecursiveCL(c=3, l=4)"], PLAIN),
    (["TCloseness(t=0.2, ground='ordered')"], PLAIN),
    (["TCloseness(t=0.2, ground='ordered')"], LOSS),
    (["TCloseness(t=0.3)"], PLAIN),
    (["KE(k=5, e=20000)"], PLAIN),
    (["Variance(at_least=1e8)"], PLAIN),
    (["DeltaDisclosure(delta=2)"], PLAIN),
    (["BetaLikeness(beta=4)"], PLAIN),
    (["KAnonymity(k=10)", "EntropyL(l=8)", "TCloseness(t=0.2, ground='ordered')"], PLAIN),
]


def search(coded: Coded, require: list[str], method: Method, unit: float) -> dict[str, str]:
    task = Task(coded, tuple(requirements(require, ["income"])))
    runs = [clock(lambda: method.search(task)) for _ in range(3)]
    seconds, groups = min(run[0] for run in runs), runs[0][1]
    measuring, holds = clock(lambda: task.holds(groups))
    assert holds
    return {
        "require": ", ".join(require),
        "method": repr(method),
        "seconds": f"{seconds:.2f}",
        "times lexsort": f"{seconds / unit:.1f}",
        "measure s": f"{measuring:.2f}",
        "groups": f"{len(groups):,}",
        "mean size": f"{np.mean(groups.sizes):.1f}",
        "GCP": f"{gcp(coded, groups):.4f}",
    }


def main() -> None:
    load_all()
    frame, source = load("sal_acs2024_500k.csv.gz")
    unit = yardstick(frame, QUASI)
    coded = code_table(frame, shoal.Schema(quasi=QUASI, sensitive="income"))
    _ = coded.space
    rows = [search(coded, require, method, unit) for require, method in CASES]
    show(f"{source}, numpy.lexsort takes {unit:.3f} s", rows)
    print(f"peak {peak_gigabytes():.2f} GB")


if __name__ == "__main__":
    main()
