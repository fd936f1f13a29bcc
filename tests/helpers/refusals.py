"""What a user can rely on where frkit refuses or warns: the kind, the remedies, their own words."""

import re
from contextlib import contextmanager

import pytest

import frkit as fk


def with_words(own_words):
    """A pattern of messages that contain all of these words, in any order."""
    words = [rf"(?=.*(?<!\w){re.escape(str(word))}(?!\w))" for word in own_words]
    return "(?s)^" + "".join(words)


@contextmanager
def refused(*own_words, answers=None):
    """The block is refused in a message with the user's own words: a column, a file, an option.

    answers : the remedies, as the error has them; not looked at by default.
    """
    with pytest.raises(fk.InputError, match=with_words(own_words)) as refusal:
        yield refusal
    if answers is not None:
        assert refusal.value.answers == answers


def noticed(*own_words):
    """The block gives a DataWarning with the user's own words, and no other one."""
    return pytest.warns(fk.DataWarning, match=with_words(own_words))
