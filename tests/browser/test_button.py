"""A button in a real browser: it computes, shows its progress, and the figure becomes another one."""

from test_browser import EXPLORER, new_picture, open_and_run, store


def test_the_button_of_representation_bias_estimates(page, lab, work, shots):
    store(work, "import frkit as fk\nfk.explore.representation_bias()")
    assert open_and_run(page, lab, "trial.ipynb") == []
    explorer = page.locator(EXPLORER).first
    explorer.wait_for()
    first = new_picture(explorer)
    explorer.get_by_role("button", name="Draw people and estimate").click()
    assert new_picture(explorer, first, seconds=90) != first
    page.screenshot(path=shots / "representation-button.png")
    assert page.outside == []
