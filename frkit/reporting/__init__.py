"""A report on one's own data: in one call, as a page, as tables for papers, as words about the methods."""
