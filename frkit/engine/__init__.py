"""The one place that touches scores: plan, sweep, resolution. It knows arrays, no labels.

Where formulas stand: the threshold at a FAR level (D.1) in `levels_and_eer.walk_levels`, and the EER there; genuine
pairs, and the weights of the V-statistic (eq. 19), in `pairs.weigh_genuine`; weights of identities (section 2.1) in
`frkit.scores.groups.shares`; AUC, moments and histograms in `distributions`; what each image adds in `influence_sums`.
"""
