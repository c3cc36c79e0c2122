"""The page in a browser: the whole journey, by mouse and by keyboard, and everything else."""

import io
import random
import re
import time
import tomllib
import zipfile
from contextlib import contextmanager, suppress

import pytest
from playwright.sync_api import Error, Route, expect

import chromium
import pages

pytestmark = pytest.mark.browser

AGES = "".join(f"{20 + i * 7 % 40},{i % 9},{1000 * (i * 13 % 50)},name {i}\n" for i in range(400))
TABLE = "age,ward,income,name\n" + AGES
HOSTILE = "<script>document.title='taken'</script>{x}{0}"
STEPS = 1000 * pages.PATIENCE  # milliseconds that anything may take on a busy machine
MOMENT = 2000  # milliseconds that a click may wait for what has just been there
expect.set_options(timeout=STEPS)


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    named = tmp_path_factory.mktemp("tables") / "named.csv"
    named.write_text(TABLE)
    with pages.opened(str(named), home=tmp_path_factory.mktemp("home")) as open_page:
        yield open_page


@pytest.fixture(scope="module")
def started():
    with chromium.browser() as browser:
        yield browser


@contextmanager
def tab(started, served, *, failing=False, **settings):
    """Open a tab; it must ask nobody but this page, raise nothing, and leave its console empty.

    A browser writes into the console that a request failed, which is there if one was `failing`.
    """
    # What fades from one colour to another has less contrast on the way.
    context = started.new_context(reduced_motion="reduce", **settings)
    context.set_default_timeout(STEPS)
    page = context.new_page()
    asked, wrong = [], []
    context.on("request", lambda request: asked.append(request.url))
    context.on("weberror", lambda found: wrong.append(str(found.error)))
    context.on("console", lambda said: wrong.append(f"{said.type}: {said.text}"))
    page.goto(served.address)
    yield page
    context.close()
    away = [url for url in asked if not url.startswith((served.base, "data:"))]
    assert not away
    assert bool(wrong) == failing, wrong


def choose(page, text=TABLE, name="people.csv"):
    file = {"name": name, "mimeType": "text/csv", "buffer": text.encode()}
    page.get_by_test_id("table-file").set_input_files(file)
    expect(page.get_by_test_id("requirement")).to_be_visible()


def demo(page):
    page.get_by_role("button", name="Open the demo table").click()
    expect(page.get_by_test_id("requirement")).to_be_visible()


def noted(page, *, there):
    """Wait until the price says that it is from before, or no longer does."""
    for _ in range(STEPS // 50):
        said = page.locator("#price").evaluate("one => getComputedStyle(one, '::before').content")
        if ("from before" in said) == there:
            return
        page.wait_for_timeout(50)
    pytest.fail(said)


def answer(page):
    """Answer what the page still asks by what it proposed."""
    page.get_by_test_id("requirement").blur()
    page.wait_for_timeout(300)
    for _ in range(100):
        if page.get_by_test_id("publish").is_enabled():
            return
        for one in ("answer-as_proposed", "answer-unchanged"):
            if page.get_by_test_id(one).count():
                with suppress(Error):  # an answer of before may have just settled it
                    page.get_by_test_id(one).first.click(timeout=MOMENT)
                break
        page.wait_for_timeout(200)


def make(page):
    answer(page)
    page.get_by_test_id("publish").click()


def holds(page):
    expect(page.get_by_test_id("verdict")).to_contain_text(re.compile(r"^\s*Holds"))
    alone(page)


def alone(page):
    """Have a release as if it were the first: other tests took some of the same table."""
    if page.get_by_test_id("not-given").count():
        page.get_by_label("I state this for everybody").check()
        page.get_by_test_id("not-given").click()
        expect(page.get_by_test_id("download")).to_be_visible()


@pytest.mark.smoke
def test_the_whole_journey(started, served):
    with tab(started, served) as page:
        choose(page)
        for column, role in {"age": "quasi", "ward": "quasi", "income": "sensitive"}.items():
            page.get_by_test_id(f"role-{column}").select_option(role)
        page.get_by_test_id("role-name").select_option("identifying")
        page.locator("#suppress").select_option("1%")  # and not yet sent by itself
        page.locator("input[name=method][value='Split()']").check()
        page.get_by_test_id("requirement").fill("EpsilonM(epsilon=2000, m=3)")
        make(page)
        expect(page.get_by_test_id("progress").first).to_be_visible()
        holds(page)
        expect(page.get_by_test_id("verdict")).to_contain_text("1 in 3")
        with page.expect_download() as waiting:
            page.get_by_role("link", name="shoal.toml").click()
        file = waiting.value.path().read_text()
        assert 'suppress = "1%"' in file
        assert 'method = "Split()"' in file
        with page.expect_download() as waiting:
            page.get_by_test_id("download").click()
        with zipfile.ZipFile(io.BytesIO(waiting.value.path().read_bytes())) as packed:
            header = packed.read("release/release.csv").decode().splitlines()[0]
        assert header == "group,age,ward,income"
        page.get_by_role("link", name="Read the report").click()
        report = page.frame_locator("iframe")
        expect(report.locator("body")).to_contain_text("EpsilonM(epsilon=2000, m=3)")


def stays(count=300):
    """Return a table of hospital stays, with names, gaps and free text, as stewards have them."""
    rows = "".join(
        f"Name {i} Surname {i * 7 % count},19{40 + i * 7 % 60}-0{1 + i % 9}-1{i % 10},"
        f"{'MF'[i % 2]},0213{i % 4 if i % 9 else ''},{('I50', 'J18', 'E11', 'C50')[i * 3 % 4]},"
        f"{1000 + i * 37 % 9000 if i % 8 else ''},called {i} about the bill of person {i * 3}\n"
        for i in range(count)
    )
    return "name,birth_date,sex,zip,diagnosis,charges,remarks\n" + rows


def test_the_console_stays_empty_from_a_file_to_its_certificate(started, served, tmp_path):
    """As it does in every other test here; this one goes where those do not."""
    with tab(started, served) as page:
        choose(page, stays(), "stays.csv")
        expect(page.locator("#price")).to_contain_text("Tried on")
        requirement = page.get_by_test_id("requirement")
        proposed = requirement.input_value()
        for text in ("Nonsense(k=2)", "", "KAnonymity(k=200); KAnonymity(k=", proposed):
            requirement.fill(text)
            requirement.blur()
            page.wait_for_timeout(300)
        page.get_by_test_id("role-remarks").select_option("quasi")
        expect(page.get_by_test_id("foreseen")).to_contain_text("remarks")
        page.get_by_test_id("answer-identifying").click()
        expect(page.get_by_test_id("role-remarks")).to_have_value("identifying")
        for name, value in {"top": "nonsense", "round": "abc", "top ": "", "round ": ""}.items():
            field = page.locator(f"#column-5 input[name={name.strip()}]")
            page.locator("#column-5 details").evaluate("one => one.open = true")
            field.fill(value)
            field.blur()
            page.wait_for_timeout(300)
        page.locator("#knob-0-epsilon").fill("many")
        page.locator("#knob-0-epsilon").blur()
        expect(page.locator("#told")).to_contain_text("Not possible")
        page.reload()
        make(page)
        holds(page)
        for folder in (tmp_path / "release", tmp_path / "release"):  # the second time it is there
            page.locator("#folder").fill(str(folder))
            page.get_by_role("button", name="Save").click()
            page.wait_for_timeout(300)
        expect(page.locator("#saved")).to_contain_text("Not possible")
        with page.expect_popup() as opened:
            page.get_by_role("link", name="Print the certificate").click()
        expect(opened.value.locator("body")).to_contain_text("Certificate of release")
        for button, shown in {"Check it": "[data-testid=verdict]", "Attack it": "iframe"}.items():
            page.get_by_role("button", name=button).click()
            expect(page.locator(shown)).to_be_visible()
            page.go_back()


def test_the_keyboard_alone_is_enough(started, served):
    def reach(page, what):
        for _ in range(80):
            page.keyboard.press("Tab")
            if what.evaluate("one => one === document.activeElement"):
                return
        msg = "the keyboard does not get there"
        raise AssertionError(msg)

    with tab(started, served) as page:
        reach(page, page.get_by_role("button", name="Open named.csv"))
        page.keyboard.press("Enter")
        expect(page.get_by_test_id("requirement")).to_be_visible()
        role = page.get_by_test_id("role-ward")
        reach(page, role)
        page.keyboard.press("End")  # not needed: leave out
        expect(role).to_have_value("drop")
        expect(page.locator("#unique")).not_to_contain_text("ward")
        expect(role).to_be_focused()  # the answer took nothing away from under the hands
        slider = page.locator("#slide-0-m")
        reach(page, slider)
        page.keyboard.press("ArrowLeft")
        expect(page.get_by_test_id("requirement")).to_have_value(re.compile(r"m=4\)"))
        answer(page)
        reach(page, page.get_by_test_id("publish"))
        page.keyboard.press("Enter")
        expect(page.get_by_test_id("verdict")).to_contain_text("1 in 4")
        alone(page)
        reach(page, page.get_by_test_id("download"))
        with page.expect_download():
            page.keyboard.press("Enter")


def test_the_button_waits_for_the_answer_to_whatever_was_changed(started, served):
    """However slow the answer is: it may ask something that the owner has to decide first."""
    with tab(started, served) as page:
        choose(page)
        page.get_by_test_id("role-name").select_option("identifying")
        answer(page)
        publish, requirement = page.get_by_test_id("publish"), page.get_by_test_id("requirement")
        changes = {  # the last one leaves income without a requirement
            "**/columns/*": lambda: page.get_by_test_id("role-name").select_option("drop"),
            "**/settings": lambda: page.locator("#suppress").select_option("1%"),
            "**/require": lambda: requirement.fill("KAnonymity(k=5)"),
        }
        held = []

        def hold(route):
            held.append(route)

        for address, change in changes.items():
            expect(publish).to_be_enabled()
            page.route(address, hold, times=1)
            with page.expect_request(address):
                change()
                expect(publish).to_be_disabled()  # at once, while somebody still types as well
            expect(publish).to_be_disabled()
            held.pop().continue_()
        expect(page.get_by_test_id("answer-unchanged")).to_be_visible()
        expect(publish).to_be_disabled()
        requirement.fill("EpsilonM(epsilon=2000, m=3)")
        expect(publish).to_be_enabled()


@pytest.mark.long
def test_an_answer_that_leads_on_waits_for_what_was_typed_before_it(started, served):
    """Its page is loaded anew, and what had not been sent by then would be lost."""
    with tab(started, served) as page:
        choose(page)
        asked = page.get_by_test_id("requirement")
        held = []
        page.route("**/columns/*", lambda route: held.append(route), times=1)  # noqa: PLW0108 - takes no method of a list
        with page.expect_request("**/columns/*"):
            page.get_by_test_id("role-name").select_option("identifying")
        asked.fill("EpsilonM(epsilon=2000, m=3)")
        for one in ("answer-as_proposed", "answer-unchanged"):
            if page.get_by_test_id(one).count():
                with suppress(Error):  # an answer of before may have just settled it
                    page.get_by_test_id(one).first.click(timeout=MOMENT)
                break
        else:
            pytest.fail("nothing is asked")
        page.wait_for_timeout(300)
        with page.expect_navigation():
            held.pop().continue_()
        answer(page)
        expect(page.get_by_test_id("publish")).to_be_enabled()
        expect(asked).to_have_value("EpsilonM(epsilon=2000, m=3)")


@pytest.mark.parametrize("status", [None, 403, 500])
def test_a_decision_without_an_answer_is_said_and_nothing_is_released(started, served, status):
    """The page may show what the server does not know, whatever is answered after it."""
    with tab(started, served, failing=True) as page:
        choose(page)
        answer(page)
        publish, told = page.get_by_test_id("publish"), page.get_by_test_id("unanswered")
        expect(publish).to_be_enabled()
        page.route(
            "**/columns/*",
            lambda route: route.abort() if status is None else route.fulfill(status=status),
            times=1,
        )
        page.get_by_test_id("role-ward").select_option("drop")
        expect(told).to_contain_text("Shoal did not answer")
        expect(told).to_be_in_viewport()
        expect(publish).to_be_disabled()
        with page.expect_response("**/settings"):
            page.locator("#suppress").select_option("1%")
        expect(told).to_contain_text("reload the page")
        expect(publish).to_be_disabled()
        page.reload()
        expect(told).to_have_count(0)
        expect(page.get_by_test_id("role-ward")).not_to_have_value("drop")
        expect(publish).to_be_enabled()


def test_a_refusal_stays_until_something_decided_after_it_succeeds(started, served):
    """What waited for its turn when a change was refused does not take the refusal away."""
    refused = {"HX-Retarget": "#told", "HX-Reswap": "innerHTML", "Content-Type": "text/html"}
    with tab(started, served) as page:
        choose(page)
        told = page.locator("#told")
        held: list[Route] = []
        page.route("**/columns/*", lambda route: held.append(route), times=1)  # noqa: PLW0108
        with page.expect_request("**/columns/*"):
            page.get_by_test_id("role-ward").select_option("drop")
        with page.expect_response("**/settings"):
            page.locator("#suppress").select_option("1%")  # and waits for its turn
            held.pop().fulfill(headers=refused, body="<p>This was refused.</p>")
        page.wait_for_timeout(500)
        expect(told).to_contain_text("This was refused.")
        page.locator("#suppress").select_option("5%")
        expect(told).to_be_empty()


def test_a_price_says_that_it_is_from_before_while_another_is_worked_out(started, served):
    with tab(started, served) as page:
        choose(page)
        answer(page)
        expect(page.locator("#price")).to_contain_text("Tried on")
        noted(page, there=False)
        held: list[Route] = []

        def hold(route: Route) -> None:
            held.append(route)

        page.route("**/require", hold, times=1)
        with page.expect_request("**/require"):
            page.get_by_test_id("requirement").fill("KAnonymity(k=6)")
        noted(page, there=True)
        held.pop().continue_()
        noted(page, there=False)


def test_rows_of_one_person_are_kept_together(started, served):
    rows = "".join(f"p{i // 3},{20 + i // 3 % 40},{i * 13 % 50}\n" for i in range(600))
    with tab(started, served) as page:
        choose(page, "patient,age,income\n" + rows)
        for column, role in {"patient": "person", "age": "quasi", "income": "sensitive"}.items():
            page.get_by_test_id(f"role-{column}").select_option(role)
        expect(page.locator("#rows")).to_be_visible()  # what a reader knows is asked
        page.locator("#rows").select_option("unknown")
        page.get_by_test_id("requirement").fill("KAnonymity(k=4)")
        make(page)
        holds(page)
        with page.expect_download() as waiting:
            page.get_by_test_id("download").click()
        with zipfile.ZipFile(io.BytesIO(waiting.value.path().read_bytes())) as packed:
            lines = packed.read("release/release.csv").decode().splitlines()
        assert lines[0] == "group,person,age,income"
        groups: dict[str, set[str]] = {}
        for line in lines[1:]:
            group, person, *_ = line.split(",")
            groups.setdefault(person, set()).add(group)
        assert len(groups) == 200
        assert all(len(one) == 1 for one in groups.values())


@pytest.mark.long
def test_a_table_about_the_same_people_is_added_and_published_with_them(started, served):
    people = "".join(f"p{i},{20 + i % 40},t{i % 3}\n" for i in range(240))
    visits = "".join(f"p{i},d{i * 7 % 11},{100 * (i % 9)}\n" for i in range(240))
    file = {
        "name": "visits of 2019.csv",
        "mimeType": "text/csv",
        "buffer": f"patient,diagnosis,cost\n{visits}".encode(),
    }
    with tab(started, served) as page:
        choose(page, "patient,age,town\n" + people)
        page.get_by_test_id("role-patient").select_option("identifying")
        expect(page.get_by_test_id("linked-file")).to_have_count(0)
        for column, role in {"patient": "person", "age": "quasi", "town": "quasi"}.items():
            page.get_by_test_id(f"role-{column}").select_option(role)
        page.get_by_test_id("linked-file").set_input_files(file)
        expect(page.locator("#linked-name")).to_have_value("visits_of_2019")
        page.locator("#linked-name").fill("visits")  # its name is public
        told = page.locator(".linking .sending")
        expect(told).to_be_hidden()
        page.evaluate("addEventListener('submit', (event) => event.preventDefault(), {once: true})")
        page.get_by_test_id("link").click()
        expect(told).to_be_visible()  # sent: before that the click waits for earlier answers
        expect(told).to_contain_text("Shoal reads it")
        page.get_by_test_id("link").click()
        expect(page.get_by_test_id("role-visits.patient")).to_be_disabled()
        page.get_by_test_id("role-visits.diagnosis").select_option("sensitive")
        page.get_by_test_id("role-visits.cost").select_option("drop")
        asked = page.get_by_test_id("requirement")
        expect(asked).to_have_value(re.compile(r"visits\.diagnosis: FrequencyL"))  # is proposed
        expect(page.locator(".quote").last).to_contain_text("visits.diagnosis")
        assert chromium.complaints(page) == []
        make(page)
        holds(page)
        with page.expect_download() as waiting:
            page.get_by_test_id("download").click()
        with zipfile.ZipFile(io.BytesIO(waiting.value.path().read_bytes())) as packed:
            header = packed.read("release/visits.csv").decode().splitlines()[0]
        assert header == "group,person,diagnosis"
        page.go_back()
        page.get_by_role("button", name="Remove visits", exact=True).click()
        expect(page.get_by_test_id("role-visits.diagnosis")).to_have_count(0)
        expect(asked).not_to_have_value(re.compile("visits"))


def test_of_two_changes_the_last_counts_however_quick(started, served):
    """The answer to the first takes the place of what the second was made with."""
    change = """(one) => ["identifying", "person"].forEach((role) => {
        one.value = role;
        one.dispatchEvent(new Event("change", {bubbles: true}));
    })"""
    with tab(started, served) as page:
        choose(page, "patient,age\n" + "".join(f"p{i},{20 + i % 40}\n" for i in range(240)))
        page.get_by_test_id("role-patient").evaluate(change)
        expect(page.get_by_test_id("linked-file")).to_have_count(1)
        expect(page.get_by_test_id("role-patient")).to_have_value("person")


def test_a_file_is_dropped_onto_the_page(started, served):
    with tab(started, served) as page:
        page.evaluate(
            """text => {
                const held = new DataTransfer();
                held.items.add(new File([text], "dropped.csv", {type: "text/csv"}));
                const zone = document.querySelector("[data-drop]");
                for (const name of ["dragenter", "dragover", "drop"]) {
                    const how = {dataTransfer: held, bubbles: true, cancelable: true};
                    zone.dispatchEvent(new DragEvent(name, how));
                }
            }""",
            TABLE,
        )
        expect(page.get_by_test_id("requirement")).to_be_visible()
        expect(page.locator(".where")).to_contain_text("dropped.csv · 400 rows")


@pytest.mark.parametrize("name", ["Compare ways", "Show what more protection", "Measure the table"])
def test_what_a_command_prints_is_a_page_to_look_at(started, served, name):
    with tab(started, served) as page:
        choose(page)
        page.get_by_test_id("requirement").fill("FrequencyL(l=3)")
        page.get_by_test_id("requirement").blur()
        expect(page.locator(".quote")).to_have_count(1)  # of two that were proposed
        page.get_by_role("button", name=name).click()
        found = page.frame_locator("iframe").locator("table").first
        expect(found).to_be_visible()
        assert chromium.complaints(page) == []
        page.get_by_role("link", name="Back to the table").click()
        expect(page.get_by_test_id("requirement")).to_have_value("FrequencyL(l=3)")


def test_an_alternative_is_taken_with_a_click(started, served):
    with tab(started, served) as page:
        choose(page)
        page.get_by_test_id("requirement").fill("FrequencyL(l=3)")
        page.get_by_test_id("requirement").blur()
        expect(page.locator("#price-form-means")).to_contain_text("typical error of a count")
        expect(page.locator("#price-method-0")).to_contain_text("by Exchange()")
        page.get_by_test_id("take-everybody").click()
        expect(page.get_by_test_id("requirement")).to_have_value(
            "FrequencyL(l=3); KAnonymity(k=11)"
        )
        expect(page.locator("#most-11")).to_be_checked()


def test_an_alternative_has_its_letter_in_the_curve(started, served):
    with tab(started, served) as page:
        demo(page)
        wider = page.locator("#alternatives form", has_text="Protect a wider range")
        letter = wider.locator("b").inner_text()[0]
        expect(page.locator("#letters-0 text")).to_have_text(letter)
        dot, other = (page.locator(f"figure {one}").first for one in (".dot", "#letters-0 circle"))
        beside, above = (
            [float(one.get_attribute(at).removesuffix("%")) for one in (dot, other)]
            for at in ("cx", "cy")
        )
        assert beside[0] == pytest.approx(beside[1])  # as sure, and wider
        assert above[1] < above[0]


def test_dragging_the_range_redraws_the_curve_of_losses(started, served):
    with tab(started, served) as page:
        choose(page)
        page.get_by_test_id("requirement").fill("EpsilonM(epsilon=2000, m=3)")
        page.get_by_test_id("requirement").blur()
        here = page.locator("[data-testid=loss-curve] text.strong", has_text="You are here")
        expect(here).to_be_visible()
        before = here.text_content()
        slider = page.locator("#slide-0-epsilon")
        slider.scroll_into_view_if_needed()
        box = slider.bounding_box()
        page.mouse.move(box["x"] + 2, box["y"] + box["height"] / 2)
        page.mouse.down()
        page.mouse.move(box["x"] + 0.7 * box["width"], box["y"] + box["height"] / 2, steps=5)
        page.mouse.up()
        moved = re.compile(r"^EpsilonM\(epsilon=(?!2000,)")
        expect(page.get_by_test_id("requirement")).to_have_value(moved)
        expect(here).not_to_have_text(before)


def test_what_is_out_of_reach_has_a_remedy_that_works(started, served):
    with tab(started, served) as page:
        choose(page)
        page.get_by_test_id("requirement").fill("FrequencyL(l=300)")
        page.get_by_test_id("requirement").blur()
        expect(page.get_by_test_id("error")).to_contain_text("Not achievable")
        page.get_by_test_id("remedy").first.click()
        expect(page.get_by_test_id("requirement")).not_to_have_value("FrequencyL(l=300)")
        expect(page.get_by_test_id("error")).to_have_count(0)
        make(page)
        holds(page)


def test_a_remedy_that_lets_rows_go_is_seen_and_reaches_the_run(started, served):
    """What the form says when it is sent is what the remedy has set."""
    rows = "".join(f"{20 + i % 40},{'xy'[i > 2]},{i * 13 % 50}\n" for i in range(300))
    with tab(started, served) as page:
        choose(page, "age,town,income\n" + rows)
        for column, role in {"age": "quasi", "town": "never-mix", "income": "sensitive"}.items():
            page.get_by_test_id(f"role-{column}").select_option(role)
        page.get_by_test_id("requirement").fill("KAnonymity(k=5); FrequencyL(l=3)")
        page.get_by_test_id("requirement").blur()
        page.get_by_role("button", name="Let Shoal remove up to").first.click()
        expect(page.locator("#suppress")).to_have_value(re.compile("%"))
        make(page)
        holds(page)
        expect(page.locator(".facts")).to_contain_text("3: suppressed, so that the re")


def test_a_run_is_cancelled_and_started_again(started, served):
    with tab(started, served) as page:
        demo(page)
        page.locator("#seconds").select_option("1800")
        page.get_by_test_id("requirement").fill("EpsilonM(epsilon=1000, m=5)")
        make(page)
        page.get_by_role("button", name="Cancel").click()
        expect(page.locator("h1")).to_have_text("Cancelled")
        page.get_by_role("button", name="Start again").click()
        expect(page.get_by_test_id("progress")).to_be_visible()
        page.get_by_role("button", name="Cancel").click()
        expect(page.locator("h1")).to_have_text("Cancelled")


def test_two_tabs_and_a_reload_show_the_same_run(started, served):
    with tab(started, served) as page:
        choose(page)
        page.get_by_test_id("requirement").fill("EpsilonM(epsilon=1000, m=4)")
        make(page)
        page.wait_for_url("**/runs/*")
        page.reload()
        other = page.context.new_page()
        other.goto(page.url)
        for one in (page, other):
            holds(one)
        other.goto(served.base)
        expect(other.locator("#runs")).to_contain_text("EpsilonM(epsilon=1000, m=4)")
        other.get_by_role("link", name="people.csv").first.click()


def test_two_tabs_have_two_tables(started, served):
    with tab(started, served) as page:
        choose(page, name="first.csv")
        other = page.context.new_page()
        other.goto(served.base)
        choose(other, TABLE.replace("ward", "clinic"), "second.csv")
        page.get_by_test_id("role-ward").select_option("drop")
        other.get_by_test_id("role-clinic").select_option("other")
        for one in (page, other):
            one.reload()
        expect(page.get_by_test_id("role-ward")).to_have_value("drop")
        expect(other.get_by_test_id("role-clinic")).to_have_value("other")


def test_a_hostile_table_stays_text(started, served):
    rows = "".join(f'{i % 30},"{HOSTILE}{i % 4}",{i * 10 % 170}\n' for i in range(200))
    header = f'"<img src=x onerror=document.title=\'taken\'>","{HOSTILE}","\'""><b>"\n'
    with tab(started, served) as page:
        choose(page, header + rows, f"{HOSTILE}.csv")
        page.get_by_test_id(f"role-{HOSTILE}").select_option("quasi")
        page.get_by_test_id("role-'\"><b>").select_option("sensitive")
        page.get_by_test_id("requirement").fill("KAnonymity(k=3)")
        page.get_by_test_id("requirement").blur()
        expect(page.get_by_test_id("answer-unchanged")).to_be_visible()
        make(page)
        holds(page)
        assert "taken" not in page.title()
        page.get_by_role("link", name="Read the report").click()
        frame = page.frame_locator("iframe").locator("body")
        expect(frame).to_contain_text("KAnonymity")
        assert "taken" not in page.title()


def asked_for(page):
    """Return what is decided by now, as the schema file has it."""
    return page.evaluate(
        "async () => await (await fetch(location.pathname + '/shoal.toml')).text()"
    )


@contextmanager
def holding(page, pattern):
    """Hold one request, until the block ends; give a list that has it once it is asked."""
    held: list[Route] = []
    page.route(pattern, lambda route: held.append(route), times=1)  # noqa: PLW0108 - not a builtin
    yield held
    assert len(held) == 1
    held.pop().continue_()


def test_what_is_typed_survives_an_answer_that_comes_late(started, served):
    with tab(started, served) as page:
        choose(page)
        requirement, publish = page.get_by_test_id("requirement"), page.get_by_test_id("publish")
        answer(page)
        expect(publish).to_be_enabled()
        with holding(page, "**/columns/*"):
            with page.expect_request("**/columns/*"):
                page.get_by_test_id("role-ward").select_option("drop")
            expect(publish).to_be_disabled()
            requirement.press("End")
            requirement.press_sequentially("; KAnonymity(k=7)")
            typed = requirement.input_value()
            page.get_by_test_id("role-age").select_option("never-mix")
            noted(page, there=True)
            page.wait_for_timeout(1200)  # what was typed would be sent by now
            expect(publish).to_be_disabled()
        page.get_by_test_id("role-age").select_option("quasi")
        noted(page, there=False)
        expect(requirement).to_have_value(typed)
        expect(page.get_by_test_id("role-age")).to_have_value("quasi")
        expect(page.get_by_test_id("role-ward")).to_have_value("drop")
        assert "KAnonymity(k=7)" in asked_for(page)
        assert 'quasi = ["age"]' in asked_for(page)


def test_the_button_waits_from_the_first_key_to_the_last_answer(started, served):
    with tab(started, served) as page:
        choose(page)
        requirement, publish = page.get_by_test_id("requirement"), page.get_by_test_id("publish")
        answer(page)
        expect(page.locator("#price")).to_contain_text("Tried on")
        requirement.fill("KAnonymity(k=6)")
        assert publish.is_disabled()  # at once, with no request on its way
        with holding(page, "**/require"):
            with page.expect_request("**/require"):
                requirement.blur()
            requirement.fill("FrequencyL(l=300)")  # which this table does not allow
        with holding(page, "**/require"):
            with page.expect_request("**/require"):
                requirement.blur()
            expect(requirement).to_have_value("FrequencyL(l=300)")
            assert publish.is_disabled()
        expect(page.get_by_test_id("error")).to_be_visible()
        assert publish.is_disabled()
        requirement.fill("KAnonymity(k=6)")
        requirement.fill("FrequencyL(l=300)")  # and back again: it has its answer as well
        noted(page, there=False)
        expect(page.get_by_test_id("error")).to_be_visible()


def test_a_price_from_before_does_not_replace_what_was_decided_since(started, served):
    with tab(started, served) as page:
        choose(page)
        requirement, price = page.get_by_test_id("requirement"), page.locator("#price")
        expect(price).to_contain_text("Tried on")
        with holding(page, "**/price"):
            with page.expect_request("**/price"):
                page.get_by_test_id("role-income").select_option("drop")
            requirement.fill("FrequencyL(l=300)")  # typed, and not sent yet
        with holding(page, "**/require"):
            page.wait_for_timeout(1500)  # for the old price, had anybody asked for it
            noted(page, there=True)
            assert page.get_by_test_id("publish").is_disabled()
        expect(page.get_by_test_id("error")).to_be_visible()
        noted(page, there=False)
        expect(price).to_contain_text("No price")


@pytest.mark.long
@pytest.mark.parametrize("turn", range(20))
def test_whatever_comes_late_the_page_shows_what_is_decided(started, served, turn):
    """Decisions in any order, each answered after a while of its own: none is lost or undone."""
    drawn = random.Random(turn)
    with tab(started, served) as page:
        choose(page)

        def late(route: Route) -> None:
            time.sleep(drawn.choice((0, 0, 0.05, 0.2)))
            route.continue_()

        page.route(re.compile(r"/(columns/\d+|require|price|settings|prices/\w+)$"), late)
        last: dict[str, str] = {}
        for _ in range(10):
            what = drawn.choice(("age", "ward", "income", "suppress", "typed", "typed"))
            if what == "typed":
                last[what] = f"KAnonymity(k={drawn.randint(2, 9)})"
                page.get_by_test_id("requirement").fill(last[what])
            elif what == "suppress":
                last[what] = drawn.choice(("1%", "5%"))
                page.locator("#suppress").select_option(last[what])
            else:
                last[what] = drawn.choice(("quasi", "drop", "other"))
                page.get_by_test_id(f"role-{what}").select_option(last[what])
            page.wait_for_timeout(drawn.choice((0, 30, 300)))
        page.get_by_test_id("requirement").blur()
        noted(page, there=False)
        page.wait_for_timeout(200)
        noted(page, there=False)
        said = tomllib.loads(asked_for(page))
        if "typed" in last:
            assert said["require"] == [last.pop("typed")]
            expect(page.get_by_test_id("requirement")).to_have_value(said["require"][0])
        assert said.get("suppress") == last.pop("suppress", None)
        for name, role in last.items():
            expect(page.get_by_test_id(f"role-{name}")).to_have_value(role)
            assert role == "drop" or name in said[role]


def test_a_schema_file_that_is_pasted_in_decides_everything(started, served):
    with tab(started, served) as page:
        choose(page)
        page.get_by_text("The same as a schema file").click()
        said = 'quasi = ["age"]\nsensitive = "income"\nrequire = "FrequencyL(l=3)"\n'
        page.locator("#schema-text").fill(said)
        page.get_by_role("button", name="Use this file").click()
        expect(page.get_by_test_id("requirement")).to_have_value("FrequencyL(l=3)")
        expect(page.get_by_test_id("role-ward")).to_have_value("drop")


DESK, PHONE = {"width": 1200, "height": 900}, {"width": 400, "height": 800}
LOOKS = [  # all rules, those that colours can break, those that little room can
    (DESK, "light", ()),
    (DESK, "dark", ("color-contrast",)),
    (PHONE, "light", ("scrollable-region-focusable", "target-size", "aria-hidden-focus")),
]


def test_every_step_is_open_to_everybody(started, served):
    """In light, in the dark and on a phone: axe-core finds nothing, nothing is cut off."""

    def look(page):
        for viewport, scheme, rules in LOOKS:
            page.set_viewport_size(viewport)
            page.emulate_media(color_scheme=scheme)
            assert chromium.complaints(page, *rules) == [], (scheme, viewport)
            wide, seen = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
            assert wide <= seen, page.url

    with tab(started, served) as page:
        look(page)
        choose(page)
        expect(page.locator("#price")).to_contain_text("Tried on")
        expect(page.locator("#alternatives")).to_contain_text("A: Your choice")
        page.get_by_text("The same as a schema file").click()
        page.get_by_text("Type and more").first.click()
        look(page)
        page.get_by_test_id("requirement").fill("FrequencyL(l=300)")
        page.get_by_test_id("requirement").blur()
        expect(page.get_by_test_id("error")).to_be_visible()
        look(page)
        expect(page.get_by_test_id("publish")).to_be_disabled()
        page.goto(served.base)
        demo(page)  # large enough that a run has still something to gain
        page.locator("#seconds").select_option("1800")
        page.get_by_test_id("requirement").fill("EpsilonM(epsilon=1000, m=5)")
        make(page)
        expect(page.get_by_test_id("keep")).to_be_visible()
        expect(page.locator(".losses")).to_contain_text("The best so far loses")
        look(page)
        page.get_by_test_id("keep").click()  # the best so far
        holds(page)
        look(page)
        page.get_by_role("link", name="Check a release").click()
        look(page)
        page.get_by_role("button", name="Check it").first.click()
        holds(page)
        look(page)
        page.get_by_role("button", name="Attack it").click()
        expect(page.locator("iframe")).to_be_visible()
        page.goto(served.base)
        look(page)
