"""Store the first screen of a report, light and dark: python data/make_readme_picture.py

Makes readme_light.png and readme_dark.png, for the README and the documentation's start page, from
one encoder of the demo. It needs Chromium and the extra `test`. Half a minute.
"""

import io
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

import frkit as fk

HERE = Path(__file__).resolve().parent
SCREEN = {"width": 1160, "height": 612}
COLOURS = 200


def main():
    scores = fk.score_tensor(fk.demo_faces().sel(model=["Ash"]))
    report = fk.report(scores, far=[1e-3], by="gender", quick=True, progress=False)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page_file = report.save(folder) / "report.html"
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox"]
        )
        for scheme in ("light", "dark"):
            page = browser.new_page(viewport=SCREEN, color_scheme=scheme)
            page.goto(page_file.as_uri())
            screen = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
            screen.quantize(COLOURS).save(HERE / f"readme_{scheme}.png", optimize=True)
        browser.close()


if __name__ == "__main__":
    main()
