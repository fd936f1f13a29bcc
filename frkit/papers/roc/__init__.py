"""ROC curves and their uncertainty (Conti & Clémençon 2024)."""
