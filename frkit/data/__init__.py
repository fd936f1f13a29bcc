"""Images with identities and attributes: made from arrays, or opened from files."""
