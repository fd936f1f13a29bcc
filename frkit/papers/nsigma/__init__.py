"""N-Sigma: distances of groups in standard deviations of an EER (DeAlcala et al. 2023)."""

# name -> the lowest |N| of the level
RISK_LEVELS = {"minimal": 0.0, "limited": 1.0, "high": 2.0, "unacceptable": 3.0}
