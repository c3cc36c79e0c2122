"""What dossiers measure beside reports: Safe Harbor, thresholds, dominance, population risk."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import dominance as by_hand
from shoal.audit import safe_harbor as harbor
from shoal.audit.dominance import PERCENT, SHARES, SIZES, dominance, group_sizes
from shoal.audit.sampled import ERROR, unique_matches
from shoal.release.stated import StatedColumn

groups = st.lists(st.lists(st.integers(0, 40), min_size=1, max_size=6), min_size=1, max_size=6)


@given(groups)
def test_thresholds_and_dominance(listed):
    rows = pl.DataFrame(
        {
            "group": [place for place, group in enumerate(listed) for _ in group],
            "pay": [str(value) for group in listed for value in group],
        }
    )
    assert group_sizes(rows)["under"] == [[n, by_hand.too_few(listed, n)] for n in SIZES]
    found = dominance(rows, "pay")
    assert found is not None
    assert found["shares"] == [[n, k, by_hand.dominated(listed, n, k)] for n, k in SHARES]
    assert found["percent"] == [PERCENT, by_hand.nearly_known(listed, PERCENT)]


def test_values_of_one_person_are_added_up():
    rows = pl.DataFrame({"group": [1] * 4, "person": [1, 1, 2, 3], "pay": [40, 40, 10, 10]})
    assert dominance(rows, "pay") == dominance(
        pl.DataFrame({"group": [1] * 3, "pay": [80, 10, 10]}), "pay"
    )
    assert group_sizes(rows)["smallest"] == 3


@pytest.mark.parametrize("cells", [["a", "b"], ["-1", "2"]])
def test_dominance_is_not_defined_for_labels_and_negative_values(cells):
    assert dominance(pl.DataFrame({"group": [1, 1], "pay": cells}), "pay") is None


def kinds(name, cells, **said):
    """Return the kinds that a column shows, but for that of unique codes."""
    column = StatedColumn(name, **({"role": "quasi"} | said))
    found = harbor.safe_harbor({name: pl.Series(name, cells)}, [column], 2026)
    assert [one.letter for one in found] == list("ABCDEFGHIJKLMNOPQR")
    return [one.letter for one in found if one.found]


@pytest.mark.parametrize(
    ("name", "cells", "letters"),
    [
        ("zip", ["123**", "000**", "***"], []),
        ("zip", ["123**", "036**"], ["B"]),
        ("zip", ["12345"], ["B"]),
        ("zip", ["1234*"], ["B"]),
        ("zip", ["[12300, 12399]"], ["B"]),
        ("town", ["A"], ["B"]),
        ("admitted", ["[2020-01-01, 2020-12-31]"], ["C"]),
        ("admitted", ["2020"], []),
        ("birthdate", ["2020-01"], ["C"]),
        ("born", ["[1940, 1962]"], []),
        ("seen", ['["05.03.2023", "06.03.2023"]', "home"], ["C"]),
        ("seen", ['["2023-03", "2023-04"]'], ["C"]),
        ("note", ["at home", "seen on 5 March 1948 at home"], ["C"]),
        ("note", ["Nachsorge am 5. März, Ulm", "-"], ["C"]),
        ("visit", ["2023-W07"], ["C"]),
        ("visit", ["2023W071"], ["C"]),
        ("visit", ["2023-Q2", "Q3 2023"], ["C"]),
        ("visit", ["Mar 1948", "unknown", "unknown"], ["C"]),
        ("visit", ["03/2023"], ["C"]),
        ("visit", ["5.3.48"], ["C"]),
        ("visit", ["05.03."], ["C"]),
        ("visit", ["1.2.2020-5.2.2020"], ["C"]),
        ("visit", ["2020-01-05T10:15:00Z"], ["C"]),
        ("visit", ["20200131", "20200201"], ["C"]),
        ("visit", ["[20200131, 20200201]"], ["C"]),
        ("visit", ["14:35"], ["C"]),
        ("visit", ["9 am"], ["C"]),
        ("admission_month", ["[3, 5]"], ["C"]),
        ("pay", ["20200131", "123", "45"], []),
        ("titer", ["1:20", "1:40", "3.2010", "1.2.3"], []),
        ("room", ["Station 12", "A-2020", "may be", "Mars"], []),
        ("birth_year", ["1935", "1960"], ["C"]),
        ("Geburtsjahr", ["[1924, 1951]", "[1952, 1990]"], ["C"]),
        ("Geburtsjahr", ['["1930", "1950"]'], ["C"]),
        ("yob", ["1936 or before", "1937", "1990"], []),
        ("yob", ["[1900, 1936]", "[1937, 1990]"], []),
        ("age", ["85-89", "90-94", "95+"], ["C"]),
        ("age", ["80-89", "90+"], []),
        ("Alter", ['["88", "93"]'], ["C"]),
        ("age", ["[20, 89]", "[90, 104]"], []),
        ("age", ["[20, 90]"], ["C"]),
        ("age", ["[90, 95]", "[96, 104]"], ["C"]),
        ("age", ["91"], ["C"]),
        ("age", ["90"], []),
        ("reach", ["a.b@example.org"], ["F"]),
        ("reach", ["123-45-6789"], ["G"]),
        ("reach", ["0151 2345678", "+49 30 1234567"], ["D"]),
        ("reach", ["015123456789", "none"], []),
        ("reach", ["015123456789", "01701234567"], ["D"]),
        ("info", ["stable"] * 50 + ["call the son on 0151 2345678"], ["D"]),
        ("info", ["stable"] * 50 + ["write to a.b@example.org"], ["F"]),
        ("info", ['["call 030 12345678", "stable"]', "stable"], ["D"]),
        ("info", ["seen 01.02.2023 08:30", "seen 2023-02-01 until 2023-03-01"], ["C"]),
        ("weight", ["57214.48957", "43333.35662"], []),
        ("charges", ["6280946842", "5391578943"], []),
        ("charges", ["[1017570190, 9993258983]"], []),
        ("reach", ["https://example.org"], ["N"]),
        ("reach", ["10.0.0.1"], ["O"]),
        ("surname", ["x"], ["A"]),
        ("Behandler", ["Dr. Huber", "PD Dr. Klein", "Dr. Öz"], ["A"]),
        ("Arzt", ['["Dr. Huber", "Prof. Weiß"]', "Dr. Huber"], ["A"]),
        ("Feld1", ["Anna Müller", "Lars Nowak", "unknown"], ["A"]),
        ("info", ["stable"] * 50 + ["told by Mrs. Smith on the phone"], ["A"]),
        ("ward", ["Innere", "Chirurgie", "Gynäkologie"], []),
        ("sex", ["Frau", "Herr"], []),
        ("income", ["12", "13"], []),
    ],
)
def test_safe_harbor_by_rule(name, cells, letters):
    assert kinds(name, cells) == letters


def test_codes_that_are_all_different_are_found():
    assert kinds("visit", ["1", "2", "3"], role="other") == ["R"]
    assert kinds("visit", ["1", "2", "2"], role="other") == []
    assert kinds("visit", ["1", "2", "2"], role="pseudonym") == ["R"]


def test_the_prefixes_of_small_population():
    assert len(set(harbor.SMALL_ZIP3)) == 17
    assert list(harbor.SMALL_ZIP3) == sorted(harbor.SMALL_ZIP3)


def populations():
    """Yield populations as the description of each person."""
    chance, size = np.random.default_rng(20021), 20_000
    for spread in (0.5, 1.0, 1.5, 2.0):
        weights = np.exp(spread * chance.normal(size=6000))
        yield chance, chance.choice(6000, size, p=weights / weights.sum())
    for power in (0.5, 1.0):
        weights = (1 + np.arange(8000.0)) ** -power
        yield chance, chance.choice(8000, size, p=weights / weights.sum())


def test_population_risk_where_the_truth_is_known():
    """The estimate is as near as the dossier says on all 12 samples."""
    tried = 0
    for chance, whom in populations():
        everybody = np.bincount(whom)
        for share in (0.05, 0.2):
            drawn = chance.choice(whom, int(len(whom) * share), replace=False)
            sizes = np.bincount(drawn, minlength=len(everybody))
            alone = sizes == 1
            truth = alone.sum() / everybody[alone].sum()
            found = unique_matches(sizes[sizes > 0], len(whom))
            assert found is not None
            assert abs(float(found) - truth) <= ERROR
            tried += 1
    assert tried == 12


def test_a_table_of_everybody_is_no_sample():
    assert unique_matches(np.array([1, 2, 2]), 5) == 1
