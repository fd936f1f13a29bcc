"""The page "Intervals explained" names the numbers that were chosen, as they are in the code."""

import re
from importlib import import_module

from paths import ROOT


def test_the_page_has_the_numbers_of_the_code():
    page = (ROOT / "binder" / "docs" / "intervals.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (\S.*?) \| `(\S+)\.py` \|", page, re.MULTILINE)
    assert len(rows) >= 10
    for name, value, file in rows:
        module = import_module("frkit." + file.replace("/", "."))
        assert str(getattr(module, name)) == value, name
