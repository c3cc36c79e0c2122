"""Which columns are survey weights: by their names, or a question where numbers may be weights."""

from __future__ import annotations

from math import isinf
from typing import TYPE_CHECKING

from shoal.inspection.lexicon import words_of
from shoal.inspection.whom import Advice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shoal.inspection.profile import Profile

WEIGHTS = {"wgt", "fnlwgt", "weights", "hochrechnung", "hochrechnungsfaktor", "designgewicht"}
WEIGHTS |= {"hochrechnungsgewicht", "stichprobengewicht", "ponderation", "ponderacion", "pondera"}
WEIGH = {"weight", "weights", "wt", "gewicht", "poids", "peso"}  # of a body, or of a row
OF_SURVEYS = {"survey", "sample", "sampling", "design", "final", "calib", "calibrated", "person"}
OF_SURVEYS |= {"sondage", "redressement", "calage", "muestral", "muestra", "encuesta", "expansion"}
OF_SURVEYS |= {"umfrage", "stichprobe", "befragung", "kalibriert", "enquete"}
BESIDE = {"resp", "respondent", "respid", "interview", "stratum", "strata", "psu", "wave", "survey"}
BESIDE |= {"befragter", "schicht", "strate", "enquete", "repondant", "estrato", "encuestado", "upm"}
SMALL, LARGE = 2.5, 250  # means that weights of people in kilograms or pounds do not have
OF_BODIES = {"body", "birth", "fetal", "infant", "dry", "ideal", "patient"}  # no survey weights
WEIGHS = (
    "Is it a survey weight (how many people a row stands for)? Then choose the role survey weight: "
    "Shoal publishes its mean in every group. If it is a body weight, protect it (sensitive)."
)


def weighing(name: str) -> str | None:
    """Return the word of a name that speaks of survey weights, if there is one."""
    words = words_of(name)
    if words[-1:] in (["weight"], ["weights"]) and len(words) > 1:
        return None if set(words) & OF_BODIES else words[-1]
    if not WEIGH.isdisjoint(words) and not OF_SURVEYS.isdisjoint(words):
        return next(word for word in words if word in WEIGH)
    return next((word for word in words if word in WEIGHTS or word.endswith("wgt")), None)


def ask_weight(found: list[Advice], profiles: Sequence[Profile]) -> None:
    """Ask whether a weight is that of a body or of a row in a survey, where its numbers may be."""
    surveyed = any(not BESIDE.isdisjoint(words_of(profile.name)) for profile in profiles)
    for place, profile in enumerate(profiles):
        if WEIGH.isdisjoint(words_of(profile.name)) or weighing(profile.name):
            continue
        if set(words_of(profile.name)) & OF_BODIES or profile.numbers is None or profile.whole:
            continue
        if profile.missing or profile.distinct < 2:  # a weight that can have no mean
            continue
        mean = float(profile.numbers @ profile.counts) / profile.filled
        if profile.numbers.min() <= 0 or (not surveyed and SMALL < mean < LARGE) or isinf(mean):
            continue
        why = "the name suggests a weight, and the numbers are like those of a survey weight"
        found[place] = Advice(None, why, question=WEIGHS, offer="survey-weight")
