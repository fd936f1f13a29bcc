"""SFI, CFI and DFI: fairness indices of whole score distributions (Kotwal & Marcel 2022)."""
