"""The one place that touches scores: plan, sweep, resolution. It knows arrays, no labels."""
