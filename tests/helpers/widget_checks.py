"""How tests find controls of an explorer, and what it draws."""

import ipywidgets as widgets


def controls_and_pictures(box):
    """What an explorer shows, in order."""
    rows = [getattr(child, "children", (child,)) for child in box.children]
    return [child for row in rows for child in row]


def find(box, description):
    """The one control with this label."""
    children = controls_and_pictures(box)
    return next(child for child in children if getattr(child, "description", "") == description)


def picture(box) -> bytes:
    """All pictures of an explorer."""
    children = controls_and_pictures(box)
    return b"".join(bytes(child.value) for child in children if isinstance(child, widgets.Image))


def follows(box, description, value) -> bool:
    """True where moving a control changes the figure."""
    before = picture(box)
    find(box, description).value = value
    return picture(box) != before
