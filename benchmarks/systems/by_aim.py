"""AIM: differentially private synthetic rows, by the package mbi.

McKenna, Mullins, Sheldon, Miklau: AIM, an adaptive and iterative mechanism for differentially
private synthetic data. VLDB 2022. Columns are divided into public classes of equal width; within a
class a value is drawn at random. The mechanism is that of the paper over all pairs of
columns, with as many rounds and steps of estimation as its authors take. delta = 1e-6.
"""

from __future__ import annotations

import math
from itertools import combinations

REQUIREMENTS = ("mbi==2.0.0", "pandas", "numpy")
SETTINGS = {f"epsilon = {epsilon:g}": {"epsilon": epsilon} for epsilon in (0.5, 1, 4)}
DELTA = 1e-6
ROUNDS, STEPS, MEGABYTES = 16, 1000, 80.0  # rounds for each column; those of the authors


def make(source, target, case, setting, seed) -> None:
    import jax
    import numpy as np
    import pandas as pd
    from mbi import Dataset, Domain

    jax.config.update("jax_enable_x64", True)  # noqa: FBT003
    jax.config.update("jax_enable_compilation_cache", False)  # noqa: FBT003
    table = pd.read_csv(source)
    names = [*case["quasi"], case["sensitive"]]
    edges = {name: _edges(case["bounds"][name], case["bins"][name]) for name in names}
    codes = {
        name: np.searchsorted(edges[name], table[name].to_numpy(), "right") - 1 for name in names
    }
    domain = Domain(names, [len(edges[name]) - 1 for name in names])
    random = np.random.default_rng(seed)
    made = _mechanism(Dataset(codes, domain), setting["epsilon"], random)
    rows = {}
    for name in names:
        low, high = (edges[name][made[name] + at] for at in (0, 1))
        rows[name] = random.integers(low, high)
    pd.DataFrame(rows)[table.columns].to_csv(target, index=False)


def _edges(ends: list[int], bins: int):
    import numpy as np

    low, high = ends
    width = max(1, math.ceil((high - low + 1) / bins))
    return np.arange(low, high + width + 1, width)


def _mechanism(data, epsilon: float, random):
    import numpy as np
    from mbi import LinearMeasurement, estimation, junction_tree

    domain = data.domain
    rho = concentrated(epsilon, DELTA)
    columns = list(domain.attributes)
    cliques = [(name,) for name in columns] + list(combinations(columns, 2))
    truth = {one: np.asarray(data.project(one).datavector()) for one in cliques}
    # A column's weight: in how many pairs of the workload it is, a pair counts both of its columns.
    weight = {one: sum(len({*one} & {*pair}) for pair in cliques[len(columns):])
              for one in cliques}  # fmt: skip
    rounds = ROUNDS * len(columns)
    sigma = math.sqrt(rounds / (2 * 0.9 * rho))
    choosing = math.sqrt(8 * 0.1 * rho / rounds)
    measured = []

    def measure(one) -> None:
        noisy = truth[one] + random.normal(0, sigma, len(truth[one]))
        measured.append(LinearMeasurement(noisy, one, stddev=sigma))

    def estimate(model=None):
        return estimation.MirrorDescent().estimate(domain, measured, iters=STEPS, warm_start=model)

    for name in columns:
        measure((name,))
    used = len(columns) * 0.5 / sigma**2
    model = estimate()
    last = False
    while not last:
        if rho - used < 2 * (0.5 / sigma**2 + choosing**2 / 8):
            last = True
            left = rho - used
            sigma, choosing = math.sqrt(1 / (2 * 0.9 * left)), math.sqrt(8 * 0.1 * left)
        used += 0.5 / sigma**2 + choosing**2 / 8
        limit = MEGABYTES * used / rho
        known = [one.clique for one in measured]
        open_ = [
            one for one in cliques
            if one in known or junction_tree.hypothetical_model_size(domain, [*known, one]) <= limit
        ]  # fmt: skip
        scores = np.array([
            weight[one] * (np.abs(truth[one] - np.asarray(model.project(one).datavector())).sum()
                           - math.sqrt(2 / math.pi) * sigma * len(truth[one]))
            for one in open_
        ])  # fmt: skip
        most = max(weight[one] for one in open_)
        chances = np.exp(0.5 * choosing / most * (scores - scores.max()))
        one = open_[random.choice(len(open_), p=chances / chances.sum())]
        before = np.asarray(model.project(one).datavector())
        measure(one)
        model = estimate(model)
        moved = np.abs(np.asarray(model.project(one).datavector()) - before).sum()
        if moved <= sigma * math.sqrt(2 / math.pi) * len(before):
            sigma, choosing = sigma / 2, choosing * 2
    return model.synthetic_data(rows=data.records).to_dict()


def concentrated(epsilon: float, delta: float) -> float:
    """Return the rho of zero-concentrated privacy that gives (epsilon, delta).

    Canonne, Kamath, Steinke: The discrete Gaussian for differential privacy. 2020, proposition 12.
    """

    def of(rho: float) -> float:
        orders = [1 + 10 ** (x / 50) for x in range(-100, 200)]
        return min(
            math.exp((a - 1) * (a * rho - epsilon) + a * math.log1p(-1 / a)) / (a - 1)
            for a in orders
            if (a - 1) * (a * rho - epsilon) < 50
        )

    low, high = 0.0, epsilon + 1
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if of(middle) <= delta else (low, middle)
    return low
