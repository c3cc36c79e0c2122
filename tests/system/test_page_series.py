"""A round of a series, made on the page: what a ledger fixes, where it goes, what is refused."""

import pages
import shoal
from system.page import finished, publish, upload, words

ROUND = {"role-0": "person", "role-1": "quasi", "role-2": "sensitive"}
HEAD = "member,age,income\n"


def members(begin, end):
    rows = (f"m{i},{20 + i * 7 % 40},{1_000 + 7_919 * i % 90_000}\n" for i in range(begin, end))
    return HEAD + "".join(rows)


def asked(client, text, name):
    place = upload(client, text, name)
    for field, role in ROUND.items():
        client.post(f"{place}/columns/{field[-1]}", data={field: role})
    client.post(f"{place}/require", data={"require": "EpsilonM(epsilon=1000, m=3)"})
    client.post(f"{place}/answers", data={"as_proposed": "yes", "unchanged": "yes"})
    return place


def test_two_rounds_of_a_series_are_made_on_the_page(tmp_path):
    ledger = str(tmp_path / "fund.ledger")
    with pages.opened(home=tmp_path) as page, page.client() as client:
        for year, text in (("y1", members(0, 200)), ("y2", members(20, 260))):
            place = asked(client, text, f"{year}.csv")
            known = {"ledger": ledger, "folder": str(tmp_path / year)}
            answer = client.post(f"{place}/round", data=known)
            assert answer.status_code == 303, words(answer.text)
            shown = finished(client, answer.headers["location"], alone=False)
            assert 'data-testid="verdict" data-verdict="holds' in shown, words(shown)
            assert 'data-testid="download"' in shown  # a round is no second release
        assert shoal.audit_series([tmp_path / "y1", tmp_path / "y2"], ledger=ledger).holds
        again = client.post(f"{place}/round", data=known)
        assert "exists" in words(finished(client, again.headers["location"], alone=False))
        # Beside the series another release of the same table is a second one.
        run = publish(client, place, require="EpsilonM(epsilon=1000, m=4)", **ROUND)
        assert 'data-testid="second"' in finished(client, run, alone=False)


def test_a_round_beside_a_release_that_was_taken_waits_and_locks_nothing(tmp_path):
    folder = str(tmp_path / "y1")
    with pages.opened(home=tmp_path) as page, page.client() as client:
        place = asked(client, members(0, 200), "y1.csv")
        first = publish(client, place)
        finished(client, first, alone=False)
        assert client.get(f"{first}/release.zip").status_code == 200
        known = {"ledger": str(tmp_path / "fund.ledger"), "folder": folder}
        answer = client.post(f"{place}/round", data=known)
        shown = words(finished(client, answer.headers["location"], alone=False))
        assert "This round may not be given out yet" in shown
        assert f"Its files lie in {folder} already" in shown
        assert "Shoal cannot measure what two releases reveal together" in shown
        assert client.get(f"{first}/certificate.html").status_code == 200  # it is out already
        assert client.get(f"{answer.headers['location']}/certificate.html").status_code == 422


def test_a_later_round_is_no_way_around_a_release_that_was_taken(tmp_path):
    """The second round has the same people, and could be had where the first one was locked."""
    ledger = str(tmp_path / "fund.ledger")
    with pages.opened(home=tmp_path) as page, page.client() as client:
        place = asked(client, members(0, 200), "y1.csv")
        first = publish(client, place)
        finished(client, first, alone=False)
        assert client.get(f"{first}/release.zip").status_code == 200
        for year, text in (("y1", None), ("y2", members(20, 260))):
            place = place if text is None else asked(client, text, f"{year}.csv")
            known = {"ledger": ledger, "folder": str(tmp_path / year)}
            made = client.post(f"{place}/round", data=known).headers["location"]
            assert 'data-testid="second"' in finished(client, made, alone=False)
            assert client.get(f"{made}/release.zip").status_code == 422
        # Of a series beside a release, a coarser one of either is a second one of the other.
        other = publish(client, place, require="EpsilonM(epsilon=1000, m=2)", **ROUND)
        shown = finished(client, other, alone=False)
        assert 'data-testid="second"' in shown
        assert "and take that one" not in words(shown)


def test_what_a_round_needs_is_said(tmp_path):
    with pages.opened(home=tmp_path) as page, page.client() as client:
        place = asked(client, members(0, 200), "y1.csv")
        refused = client.post(f"{place}/round", data={"ledger": "fund.ledger", "folder": ""})
        assert refused.status_code == 422
        assert "whole path" in words(refused.text)
        client.post(f"{place}/columns/0", data={"role-0": "identifying"})
        known = {"ledger": str(tmp_path / "a"), "folder": str(tmp_path / "b")}
        refused = client.post(f"{place}/round", data=known)
        assert "marks a person" in words(refused.text)
