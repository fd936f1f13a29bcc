"""From scores to kept pairs, and from kept pairs with weights to rates: arrays only.

sweep : one pass over a lazy array of scores. selection : which impostor pairs it keeps.
protocol : who counts how much. compared : the weight of all pairs, whatever their scores.
tally : the pairs of one model with their weights, in the order of their errors.
rates : thresholds (D.1), FAR (eq. 2), FRR (eq. 3), EER, AUC, moments and histograms. people : what
each image adds to the rates. kernels : compiled loops.
"""
