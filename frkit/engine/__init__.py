"""Every evaluation is a weighted list of pairs: from scores to pairs, and from pairs to rates.

protocol: who is compared with whom. sweep: from a tensor to pairs. pairs: filed by score, with
weights. rates: thresholds, FAR, FRR, EER and AUC. people: what each image adds to the rates.
distributions: moments and histograms.
"""
