"""The levels that pycanon measures: run by levels.py and run.py in the environment of the peers.

One line of JSON for each as soon as it is known, so that whoever stops it has those it had.
"""

from __future__ import annotations

import json
import sys

import pandas as pd
from pycanon import anonymity


def main() -> None:
    path, sensitive, *quasi = sys.argv[1:]
    cells = dict.fromkeys(quasi, str)
    data = pd.read_csv(path, dtype=cells, keep_default_na=False)
    asked = data, quasi, [sensitive]
    tell(k=anonymity.k_anonymity(data, quasi))
    tell(alpha=anonymity.alpha_k_anonymity(*asked)[0])
    tell(distinct_l=anonymity.l_diversity(*asked))
    tell(entropy_l=anonymity.entropy_l_diversity(*asked))
    tell(t=anonymity.t_closeness(*asked))
    c, l = anonymity.recursive_c_l_diversity(*asked)
    tell(recursive_c=c, recursive_l=l)
    tell(delta=anonymity.delta_disclosure(*asked))
    tell(basic_beta=anonymity.basic_beta_likeness(*asked))
    tell(enhanced_beta=anonymity.enhanced_beta_likeness(*asked))


def tell(**levels: float) -> None:
    known = {name.replace("_", " "): float(level) for name, level in levels.items()}
    print(json.dumps(known), flush=True)


if __name__ == "__main__":
    main()
