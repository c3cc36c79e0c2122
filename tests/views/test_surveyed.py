"""The page about a table as it is begins with the largest risk, in words that need no glossary."""

import re
from html import unescape

import polars as pl
import pytest

import shoal
from shoal.views.pages import survey_page


@pytest.mark.parametrize("smallest", [1, 2, 5])
def test_the_page_begins_with_the_largest_risk_as_one_in_so_many(smallest: int) -> None:
    ages = [20] * smallest + [30] * (smallest + 2)
    frame = pl.DataFrame({"age": ages, "pay": range(len(ages))})
    found = shoal.measures.levels(frame, shoal.Schema(quasi="age", sensitive="pay"))
    page = unescape(survey_page(found.to_dict())).replace("\xa0", " ")
    (lead,) = re.findall(r'<p class="lead">(.*?)</p>', page)
    assert f"1 in {smallest}" in lead
    assert not re.search(r"prosecutor|marketer|\d\.\d{2}", lead)
    assert page.index(lead) < page.index("prosecutor") < page.index("kinds of protection")
    assert page.index("kinds of protection") < page.index("DistinctL")
