"""The names of both sides of the pairs of a list, to compare with what a file contains."""

from frkit.scores.kept import is_list, named_pairs


def named(data):
    """A list as a Dataset over pair, with names and labels as coordinates; other data unchanged."""
    return named_pairs(data) if is_list(data) else data
