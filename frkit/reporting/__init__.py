"""A report on one's own data, as a page, as numbers, as tables for papers, as words."""
