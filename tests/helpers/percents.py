"""Cells of a table as sentences have them."""

import re
from decimal import Decimal


def in_percent(text: str) -> str:
    """The numbers of a cell in percent, rounded as they stand there: "7.4 [4.4, 13.4]"."""
    return re.sub(r"[\d.]+(e-?\d+)?", lambda number: f"{Decimal(number[0]).scaleb(2):f}", text)
