"""The three attacks of the package anonymeter on rows: run by scale.py in its environment.

Giomi, Boenisch, Wehmeyer, Tasnadi: A unified framework for quantifying privacy risk in synthetic
data. PoPETs 2023. A line of standard input names the files, a line of the output has the share of
attacks that succeed on members and on controls, and the risk that the package makes of them.
"""

from __future__ import annotations

import json
import sys
import warnings

REQUIREMENTS = ("anonymeter==1.1.0",)
ATTACKS = 500


def main() -> None:
    import numpy as np
    import pandas as pd
    from anonymeter.evaluators import InferenceEvaluator, LinkabilityEvaluator, SinglingOutEvaluator

    warnings.simplefilter("ignore")
    for line in sys.stdin:
        job = json.loads(line)
        original, rows, controls = (
            pd.read_csv(job[one]) for one in ("source", "target", "controls")
        )
        np.random.seed(job["seed"])  # noqa: NPY002 - the package draws from it
        quasi, sensitive = job["case"]["quasi"], job["case"]["sensitive"]
        some = {"ori": original, "syn": rows, "control": controls[: len(original)]}
        some["n_attacks"] = ATTACKS
        evaluators = {
            "singling out": SinglingOutEvaluator(
                **some, n_cols=3, seed=job["seed"], max_attempts=20_000
            ),
            "linking": LinkabilityEvaluator(**some, aux_cols=(quasi[0::2], quasi[1::2])),
            "inference": InferenceEvaluator(
                **some, aux_cols=quasi, secret=sensitive, regression=True
            ),
        }
        found = {}
        for name, one in evaluators.items():
            one.evaluate(**({"mode": "multivariate"} if name == "singling out" else {"n_jobs": 1}))
            result = one.results()
            found[f"{name} members"] = result.attack_rate.value
            found[f"{name} controls"] = result.control_rate.value
            found[f"{name} risk"] = result.risk().value
        print(json.dumps({name: job[name] for name in KEY} | found), flush=True)


KEY = ("table", "system", "setting", "seed")

if __name__ == "__main__":
    main()
