"""Figures that all share, and what figures are made of: marks and style."""
