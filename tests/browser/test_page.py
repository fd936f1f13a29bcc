"""The page of a report and the app, in Chromium: wide, narrow and printed."""

import pytest
from model_files import people, store
from report_faces import two_models

import frkit as fk

pytestmark = pytest.mark.browser

NASTY = "<img src=x onerror='window.hit=1'><script>window.hit=1</script> $\\frac{1}{0}$"


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """A report whose labels are as bad as can be."""
    faces = two_models(groups=(NASTY, "_b")).assign_coords(model=[NASTY, "other"])
    report = fk.report(faces, by="group", far=[0.05, 0.1], quick=True, progress=False)
    return (report.save(tmp_path_factory.mktemp("page") / "report") / "report.html").as_uri()


@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_fits_and_asks_for_nothing(page, address, width):
    requested = []
    page.on("request", lambda request: requested.append(request.url))
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(address)
    assert [url for url in requested if not url.startswith("data:")] == [address]
    assert page.outside == [] and page.messages == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate("window.hit === undefined && document.scripts.length === 0")
    assert NASTY in page.inner_text("body")


def test_on_paper_nothing_is_cut(page, address):
    page.set_viewport_size({"width": 680, "height": 960})  # A4 between its margins
    page.emulate_media(media="print")
    page.goto(address)
    cut = "[...document.querySelectorAll('.wide')].filter(e => e.scrollWidth > e.clientWidth + 1)"
    assert page.evaluate(f"{cut}.length") == 0
    assert page.pdf(format="A4").startswith(b"%PDF")


def test_the_app_evaluates_and_says_what_is_wrong(page, app, shots, tmp_path):
    page.set_default_timeout(240_000)
    answered = []
    page.on("response", lambda response: answered.append(response.url))
    page.goto(app)
    assert "/login" in page.url, "nobody enters without the token"
    page.goto(app + "?token=secret")
    evaluate = page.get_by_role("button", name="Evaluate")
    evaluate.wait_for()
    assert evaluate.bounding_box()["y"] < page.viewport_size["height"]  # on the first screen
    assert page.locator("pre:has-text('import frkit')").count() == 0  # no code
    page.screenshot(path=shots / "app.png")
    page.get_by_placeholder("path").fill("/nowhere/faces.npz")
    page.get_by_role("button", name="Read").click()
    page.get_by_text("there is no such file").wait_for()
    assert evaluate.is_disabled()
    lines = [f"{k % 9},{k % 7},{(k % 9 == k % 7) + k % 10 / 9}" for k in range(90)]
    (tmp_path / "odd.csv").write_text("\n".join(["u,v,w", *lines]))
    page.get_by_placeholder("path").fill(str(tmp_path / "odd.csv"))
    page.get_by_role("button", name="Read").click()
    page.get_by_text("options: --kind matrix").wait_for()
    page.screenshot(path=shots / "app-question.png")
    options = page.get_by_placeholder("--columns score=cosine genuine=mated")
    options.fill("--columns score=w probe_identity=u reference_identity=v")
    page.get_by_role("button", name="Read").click()
    page.get_by_text("90 pairs").wait_for()
    page.screenshot(path=shots / "app-columns.png")
    options.fill("")
    page.get_by_placeholder("path").fill("")
    page.get_by_role("button", name="Read").click()
    page.get_by_text("2,809 images").wait_for()
    page.get_by_placeholder("path").fill(store(tmp_path / "faces.npz", people()))
    page.get_by_role("button", name="Read").click()
    page.get_by_text("150 images").wait_for()
    evaluate.click()
    page.get_by_text("done in").wait_for()
    page.get_by_role("link", name="download the report").wait_for()
    assert page.locator(".frkit-report figure svg, .frkit-report figure img").count() > 3
    assert [url for url in answered if not url.startswith((app, "data:", "blob:"))] == []
    assert "Traceback" not in page.inner_text("body")
    page.set_viewport_size({"width": 390, "height": 900})
    page.screenshot(path=shots / "app-narrow.png")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
