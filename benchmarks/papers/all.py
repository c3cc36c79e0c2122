"""Every experiment of the papers, one after the other: python benchmarks/papers/all.py."""

from __future__ import annotations

import em_fig4
import em_fig5
import em_fig6
import em_fig7
import hk_gcp
import hk_time
import xc_fig4
import xc_fig5
import xc_fig6
from figures import run

MODULES = (em_fig4, em_fig5, em_fig6, em_fig7, xc_fig4, xc_fig5, xc_fig6, hk_gcp, hk_time)

if __name__ == "__main__":
    run([module.FIGURE for module in MODULES])
