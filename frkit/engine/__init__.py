"""The one place that touches scores: plan, sweep, resolution. It knows arrays, no labels.

Where formulas stand: the threshold at a FAR level (D.1) in `kernels.walk_levels`; genuine pairs, and the weights of the
V-statistic (eq. 19), in `pairs.weigh_genuine`; the EER in `eer`; weights of identities (section 2.1) in
`protocol.shares`; AUC, moments and histograms in `distributions`; what each image adds in `influence`.
"""
