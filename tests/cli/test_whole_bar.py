"""One bar for the whole command: by a clock of the test's own, it is honest and never falls."""

import numpy as np
import pytest

from shoal.methods.exchanging import ROUNDS
from shoal.views.whole import AT_LEAST, AT_MOST, USUAL, WORDS, Whole


@pytest.mark.parametrize("seed", range(60))
def test_the_bar_is_within_a_fifth_after_its_first_fifth(seed: int) -> None:
    random = np.random.default_rng(seed)
    unit = float(np.exp(random.normal(0, 1.5)))
    lasting = {
        phase: min(unit * usual + AT_LEAST.get(phase, 0.0), AT_MOST.get(phase, np.inf))
        * float(random.uniform(0.6, 1.5))
        for phase, usual in USUAL.items()
    }
    lasting["search"] *= float(np.exp(random.normal(0.5, 1)))  # nobody knows before
    whole_time = sum(lasting.values())
    now = [0.0]
    whole, shown = Whole(lambda: now[0]), []
    for phase, seconds in lasting.items():
        begun = now[0]
        for done in np.linspace(0, 1, 21).tolist():
            now[0] = begun + seconds * done
            shown.append((now[0] / whole_time, whole.share(phase, done)))
    assert [share for _, share in shown] == sorted(share for _, share in shown)
    assert all(0 <= share <= 1 for _, share in shown)
    assert shown[-1][1] == pytest.approx(1)
    # Whoever is told nothing of a search cannot know how long it takes; from a fifth on it tells.
    told = 0.2 + lasting["search"] / whole_time / 5
    late = [(true, share) for true, share in shown if true > told]
    assert max(abs(true - share) for true, share in late) <= 0.2


@pytest.mark.parametrize(
    ("rounds", "seek"),
    [(0, 0.0), (1, 0.1), (9, 1.0), (14, 1.0), (12, 10.0), (16, 10.0), (12, 90.0), (17, 90.0)],
)
def test_a_search_that_seeks_is_not_said_to_be_nearly_over(rounds: int, seek: float) -> None:
    """The last groups may take most of the time, or none: nobody knows while others are mended."""
    lasting = {
        "read": 0.2, "code": 0.2, "search": 0.5, "repair": 1.0, "seek": seek, "improve": 0.8,
        "recode": 0.1, "write": 0.2, "audit": 0.4, "report": 2.0,
    }  # fmt: skip
    if not rounds:
        lasting.pop("seek")
    whole_time, now = sum(lasting.values()), [0.0]
    whole, shown = Whole(lambda: now[0]), []
    for phase, seconds in lasting.items():
        begun = now[0]
        for done in np.linspace(0, 1, 57).tolist():
            now[0] = begun + seconds * done
            told = min(0.95, done * rounds / ROUNDS) if phase == "seek" else done
            shown.append((now[0] / whole_time, whole.share(phase, told)))
    assert [share for _, share in shown] == sorted(share for _, share in shown)
    assert max(abs(true - share) for true, share in shown if true > 0.2) <= 0.2


def test_every_phase_has_words() -> None:
    assert USUAL.keys() <= WORDS.keys()
    assert all(words[0].isupper() for words in WORDS.values())


@pytest.mark.parametrize("seed", range(20))
def test_a_search_with_a_budget_is_known_to_take_it(seed: int) -> None:
    random = np.random.default_rng(seed)
    budget, now = float(random.uniform(10, 60)), [0.0]
    whole, shown = Whole(lambda: now[0], budget=budget), []
    phases = {
        "read": 0.2, "code": 0.2, "search": 0.3 * budget, "repair": 0.05 * budget,
        "improve": 0.15 * budget, "anneal": 0.5 * budget, "recode": 0.1, "write": 0.1,
        "audit": 0.2, "report": float(random.uniform(0.5, 2)),
    }  # fmt: skip
    for phase, seconds in phases.items():
        begun = now[0]
        for done in np.linspace(0, 1, 21).tolist():
            now[0] = begun + seconds * done
            shown.append((now[0], whole.share(phase, done)))
    total = now[0]
    assert max(abs(at / total - share) for at, share in shown if at > total / 5) <= 0.2
