"""How tests find controls of an explorer, and what it draws."""

import ipywidgets as widgets


def controls_and_pictures(box):
    """What an explorer shows, in order."""
    children = getattr(box, "children", ())
    return [each for child in children for each in [child, *controls_and_pictures(child)]]


def find(box, description):
    """The one control with this label."""
    children = controls_and_pictures(box)
    return next(child for child in children if getattr(child, "description", "") == description)


def picture(box) -> str:
    """All pictures of an explorer."""
    texts = [each.value for each in controls_and_pictures(box) if type(each) is widgets.HTML]
    return "".join(text for text in texts if text.startswith("<img alt="))


def cautions(box) -> str:
    """What is written under the pictures of an explorer."""
    return [child for child in controls_and_pictures(box) if type(child) is widgets.HTML][-1].value


def follows(box, description, value) -> bool:
    """True where moving a control changes the figure."""
    before = picture(box)
    find(box, description).value = value
    return picture(box) != before
