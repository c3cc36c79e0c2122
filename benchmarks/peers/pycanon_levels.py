"""The levels that pycanon measures, as JSON: run by levels.py in the environment of pycanon."""

from __future__ import annotations

import json
import sys

import pandas as pd
from pycanon import anonymity


def main() -> None:
    path, sensitive, *quasi = sys.argv[1:]
    cells = dict.fromkeys(quasi, str)
    data = pd.read_csv(path, dtype=cells, keep_default_na=False)
    c, l = anonymity.recursive_c_l_diversity(data, quasi, [sensitive])
    found = {
        "k": anonymity.k_anonymity(data, quasi),
        "alpha": anonymity.alpha_k_anonymity(data, quasi, [sensitive])[0],
        "distinct l": anonymity.l_diversity(data, quasi, [sensitive]),
        "entropy l": anonymity.entropy_l_diversity(data, quasi, [sensitive]),
        "recursive l": l,
        "recursive c": c,
        "t": anonymity.t_closeness(data, quasi, [sensitive]),
        "basic beta": anonymity.basic_beta_likeness(data, quasi, [sensitive]),
        "enhanced beta": anonymity.enhanced_beta_likeness(data, quasi, [sensitive]),
        "delta": anonymity.delta_disclosure(data, quasi, [sensitive]),
    }
    print(json.dumps({name: float(value) for name, value in found.items()}))


if __name__ == "__main__":
    main()
