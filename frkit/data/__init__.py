"""Images with identities and attributes: made from arrays, or opened from files."""

from frkit.data.dataset import faces, stack_models

__all__ = ["faces", "stack_models"]
