"""Store the first screen of the demo's report as the README's picture: `python
data/make_readme_picture.py`.

It needs Chromium and the extra `test`.
"""

import io
import os
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from frkit.__main__ import main

PICTURE = Path(__file__).resolve().with_name("readme_report.png")
COLOURS = 96

with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
    os.chdir(folder)
    main(["demo", "--quick", "-o", "frkit-demo"])
    browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
    page = browser.new_page(viewport={"width": 1160, "height": 776})
    page.goto(f"file://{folder}/frkit-demo/report.html")
    screen = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    screen.quantize(COLOURS).save(PICTURE, optimize=True)
    browser.close()
