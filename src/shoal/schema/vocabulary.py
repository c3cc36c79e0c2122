"""What the names of columns tell: the words behind the suggestions of `shoal inspect`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


IDENTIFYING = _words("""
name surname forename firstname lastname fullname nickname username login email mail phone telephone
tel mobile fax ssn passport iban address street url website ip mac mrn vin signature photo
fingerprint fingerprints
""")
IDENTIFIERS = _words("id ids uid uuid guid hid pid identifier key serial")
NOT_IDS = _words("acid android bid covid fluid grid hybrid invalid liquid paid rapid solid valid")
CODES = _words("""
zip zipcode zipcodes postal postcode postalcode plz fips code codes icd icd9 icd10 cpt naics isic
soc id ids
""")
NOMINAL = _words("""
sex gender race ethnicity hispanic marital religion country nationality region state workclass class
category type status relationship relation language
""")
SENSITIVE = _words("""
income salary wage wages pay payment earnings revenue profit price cost costs charge charges debt
loan balance credit savings expend expenditure spending tax taxes asset assets amount amnt sales
gain capital funds gift donation bonus rent turnover
diagnosis diagnoses diag disease illness condition conditions icd icd9 icd10 symptom treatment
medication medications drug drugs hiv cancer disability hospital injury mortality pregnancy glucose
serum insulin readmitted a1cresult
party vote religion orientation union conviction offence offense crime grade grades
iq rating verdict
""")
SENSITIVE_STEMS = _words("""
income salary wages earning revenue profit price expend diagnos disease illness medicat injury
savings asset politic crimin convict amnt sales
""")
STRONG = _words("income salary wage wages earning earnings price diagnosis diagnoses diag disease")
QUASI = _words("""
age birth born dob birthday birthdate sex gender race ethnicity ethnic hispanic marital civil
education school schooling degree occupation job profession industry employer workclass country
nationality citizenship citizen native birthplace state city town village municipality county
district region province area place zip zipcode postal postcode plz puma household children kids
family relationship language height date year yr month lat lon lng latitude longitude urban
""")
CORE = _words("""
age birth born dob birthday birthdate sex gender zip zipcode postal postcode plz race ethnicity
marital education occupation job
""")
QUASI_STEMS = _words("birth gender marital educat occupat zipcode postcode countr nation citizen")
WEIGHTS = _words("wgt fnlwgt weights")
LATITUDE = _words("lat latitude")
LONGITUDE = _words("lon lng long longitude")
MISSING_WORDS = _words("""
? ?? - -- . .. n/a #n/a na n.a. nan null none nil missing unknown unk (null) <na> (missing)
""")
TRUTHS = (
    ("false", "true"),
    ("no", "yes"),
    ("n", "y"),
    ("f", "t"),
    ("0", "1"),
)
SCALES = (
    "low medium high",
    "low middle high",
    "small medium large",
    "never rarely sometimes often always",
    "poor fair good very-good excellent",
    "none mild moderate severe",
    "jan feb mar apr may jun jul aug sep oct nov dec",
    "january february march april may june july august september october november december",
    "mon tue wed thu fri sat sun",
    "monday tuesday wednesday thursday friday saturday sunday",
    "strongly-disagree disagree neutral agree strongly-agree",
)
# Letters of other alphabets that print like Latin ones; the labels they stand in look alike.
CONFUSABLE = dict(zip("аеорсухіјѕһԁԛԝαοντρικ", "aeopcyxijshdqwaovtpik", strict=True))


def words_of(name: str) -> list[str]:
    """Return the words of a column's name in lower case: `diag_1`, `zipCode`, `hours-per-week`.

    >>> words_of("hoursPer-Week_2")
    ['hours', 'per', 'week']
    """
    parted = re.sub(r"([a-z])([A-Z])", r"\1 \2", name)
    return [word for word in re.split(r"[\W_]+|(?<=\D)\d+$", parted.lower()) if word]


def word_among(name: str, words: Collection[str], stems: Collection[str] = ()) -> str | None:
    """Return the word of a name that stands among words, or has one of the stems in it."""
    said = words_of(name)
    joined = re.sub(r"[\W_]+", "", name.lower())
    known = next((word for word in (*said, joined) if word in words), None)
    return known or next((word for word in said for stem in stems if stem in word), None)
