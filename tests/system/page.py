"""What tests of the page do again and again, as a browser would."""

import re
import time

from pages import PATIENCE

ROWS = "".join(f"{20 + i % 40},{1000 * (i % 50)},person {i}\n" for i in range(300))
TABLE = "age,income,name\n" + ROWS


def upload(client, text=TABLE, name="people.csv"):
    answer = client.post("/tables", files={"table": (name, text)})
    assert answer.status_code == 303, answer.text
    place = answer.headers["location"]
    assert client.get(f"{place}/body").status_code == 200
    return place


def finished(client, run, *, alone=True):
    """Return the page of a run once it is done; other tests took releases of the same table."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        text = client.get(run).text
        if "sse-connect" not in text:
            if alone and 'data-testid="not-given"' in text:
                client.post(f"{run}/not-given")
                return client.get(run).text
            return text
        time.sleep(0.1)
    msg = "the run did not end"
    raise AssertionError(msg)


def publish(client, place, **fields):
    answers = {"unchanged": "yes", "as_proposed": "yes"}  # what the owner has to decide
    answer = client.post(f"{place}/publish", data=answers | fields)
    assert answer.status_code == 303, answer.text
    return answer.headers["location"]


def words(html):
    """Return what a person reads of a piece of a page."""
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def verdict_of(html):
    """Return the verdict that a page shows: its word, and how its text begins."""
    ((word, text),) = re.findall(
        r'data-testid="verdict" data-verdict="([^"]+)">(.*?)</p>', html, re.DOTALL
    )
    said = words(text).removesuffix(" ?")
    return word, said
