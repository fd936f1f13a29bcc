"""Every evaluation is a weighted list of pairs: from scores to pairs, and from pairs to rates.

protocol, listed : who is compared with whom, of a tensor and of a list; entries : what both give.
sweep : from a tensor to pairs. pairs : filed by score, with weights. tally : all of one model.
rates : thresholds (D.1), FAR, FRR (eq. 3), EER and AUC. people : what each image adds to the rates.
distributions : moments and histograms. kernels : compiled loops.
"""
