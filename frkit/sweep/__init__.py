"""The one place that touches scores: plan, sweep, resolution."""
