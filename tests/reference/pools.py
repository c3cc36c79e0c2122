"""Columns of few values for hierarchies built by a rule: their name, their values and the rule."""

NUMBERS = ("age", "rate")  # the columns that hold numbers

CODES = ["1", "12", "120", "121", "1234", "129", "13", "2", "20", "2000", "31"]
DAYS = [f"{year}-{month:02}-{day:02}" for year in (1989, 1990) for month in (1, 2, 5, 12)
        for day in (1, 17)]  # fmt: skip
AGES = [*range(-4, 20, 2), 40, 41, 97]
RATES = [0.1, 0.25, 0.3, 0.5, 1.75, 2.5, 7.25]
TOWNS = ["Aalen", "Bonn", "Celle", "Hof", "Jena", "Ulm", "Zell"]
POOLS = [
    ("code", CODES, "Prefix()"),
    ("code", CODES, "Grouped(size=2)"),
    ("born", DAYS, "Calendar()"),
    ("born", DAYS, "Quantiles(parts=3)"),
    ("born", DAYS, "Grouped(size=2)"),
    ("age", AGES, "Bins(width=3)"),
    ("age", AGES, "Quantiles(parts=4)"),
    ("age", AGES, "Grouped(size=3)"),
    ("rate", RATES, "Bins(width=0.2)"),
    ("rate", RATES, "Quantiles(parts=2)"),
    ("town", TOWNS, "Grouped(size=2)"),
    ("town", TOWNS, "Prefix()"),
]
