"""A button in a real browser: it computes, shows its progress, can be stopped, and the figure becomes another one."""

import pytest
from test_browser import EXPLORER, new_picture, open_and_run, store

pytestmark = pytest.mark.browser

LONG = """\
import frkit as fk
mix = fk.vmf.mixture(100, 16, kappa=(10, 40), seed=0)
study = fk.studies.coverage(mix, n_datasets=4, far=[0.1, 0.2], replicates=20, progress=False)
fk.explore.coverage(study.assign_attrs(study=study.attrs["study"].replace('"replicates": 20', '"replicates": 2000')))"""


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


def test_a_study_is_stopped_and_its_sliders_have_names(page, lab, work, shots):
    """A study of minutes ends within seconds of the second button; the tree that screen readers get has the labels."""
    store(work, LONG)
    assert open_and_run(page, lab, "trial.ipynb") == []
    explorer = page.locator(EXPLORER).first
    explorer.wait_for()
    assert len(new_picture(explorer)) == 64
    for words in (
        "FAR level",
        "identities K",
        "concentrations κ, lowest",
        "concentrations κ, highest",
    ):
        explorer.get_by_role("slider", name=words, exact=True).wait_for(timeout=20_000)
    assert explorer.get_by_text("The figure is not of these sizes").count() == 0, (
        "nothing has been moved"
    )
    explorer.get_by_role("slider", name="data sets", exact=True).focus()
    page.keyboard.press("End")
    explorer.get_by_text("The figure is not of these sizes").wait_for()
    explorer.get_by_role("button", name="Run a study of this size").click()
    explorer.get_by_text("3 s", exact=True).wait_for()  # beside its bar
    page.screenshot(path=shots / "study-running.png")
    explorer.get_by_role("button", name="Stop").click()
    explorer.get_by_text("Stopped: the figure is the one before.").wait_for(timeout=30_000)
    page.screenshot(path=shots / "study-stopped.png")
    assert explorer.get_by_role("button", name="Run a study of this size").is_enabled()
    assert page.outside == []
