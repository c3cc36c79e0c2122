"""What tests of the page do again and again, as a browser would."""

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


def finished(client, run):
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        text = client.get(run).text
        if "sse-connect" not in text:
            return text
        time.sleep(0.1)
    msg = "the run did not end"
    raise AssertionError(msg)


def publish(client, place, **fields):
    answer = client.post(f"{place}/publish", data=fields)
    assert answer.status_code == 303, answer.text
    return answer.headers["location"]
