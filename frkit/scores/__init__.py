"""Who was compared with whom, and the scores: lazy tensors, matrices and lists of pairs."""
