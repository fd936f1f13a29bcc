"""A room for each paper: its method, figures and experiments."""
