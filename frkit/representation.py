"""How much an embedding, or a classifier, reveals about a protected attribute.

Table I of Li & Abd-Almageed (2021) sorts the measures of bias by what they look at: R an
embedding, Z a protected attribute, Y true and Y' predicted labels. The map of that table:

======================  ========  ===============================================================
family                  looks at  here
======================  ========  ===============================================================
accuracy across         R, Y      `cohort_spread`: accuracy, FPR, F1, AUC, average precision of
cohorts                           each cohort, and their standard deviation
information leakage     Z, Y'     `parity_gaps`: demographic parity, equalized odds, equality of
                                  opportunity; the bias score takes two lines, below
estimated correlation   R, Z      `probe`: dataset bias, logits-level accuracy and loss
statistical dependence  R, Z      `distance_correlation`; `representation_bias` (RLB)
======================  ========  ===============================================================

The bias score ("BA" in Tables III and IV) of 0/1 labels `predicted` (n, tasks), and how much they
amplify the shares of the training labels, `before`, made in the same way::

    counts = pd.DataFrame(predicted).groupby(group).sum()
    after = counts / counts.sum()  # share of each group among the images with a label
    bias_score = after.max().mean()
    amplification = (after - before)[before > 1 / len(before)].sum(min_count=1).mean()
"""

from frkit.papers.rlb.dependence import distance_correlation
from frkit.papers.rlb.mine import Critic
from frkit.papers.rlb.parity import cohort_spread, parity_gaps
from frkit.papers.rlb.probes import probe
from frkit.papers.rlb.representation_bias import convergence
from frkit.papers.rlb.truth import shifted_classes

__all__ = [
    "Critic",
    "cohort_spread",
    "convergence",
    "distance_correlation",
    "parity_gaps",
    "probe",
    "shifted_classes",
]
