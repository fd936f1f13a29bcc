"""Figures of given Datasets: each function takes `ax`, returns it, and computes nothing."""

from frkit.plot.curves import difference, fan, roc
from frkit.plot.experiments import bootstrap_bias, consistency, growth

__all__ = ["bootstrap_bias", "consistency", "difference", "fan", "growth", "roc"]
