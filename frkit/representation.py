"""How much an embedding, or a classifier, reveals about a protected attribute.

Table I of Li & Abd-Almageed (2021) sorts the measures of bias by what they look at: R an
embedding, Z a protected attribute, Y true and Y' predicted labels. The map of that table:

======================  ========  ===============================================================
family                  looks at  here
======================  ========  ===============================================================
accuracy across         R, Y      `cohort_spread`: accuracy, FPR, F1, AUC, average precision of
cohorts                           each cohort, and their standard deviation
information leakage     Z, Y'     `parity_gaps`: demographic parity, equalized odds, equality of
                                  opportunity; `leakage`: of data set and model;
                                  `bias_amplification`, with the bias score
estimated correlation   R, Z      `probe`: dataset bias, logits-level accuracy and loss
statistical dependence  R, Z      `distance_correlation`; `representation_bias` (RLB)
======================  ========  ===============================================================
"""

from frkit.papers.rlb.decisions import bias_amplification
from frkit.papers.rlb.dependence import distance_correlation
from frkit.papers.rlb.leakage import leakage
from frkit.papers.rlb.mine import Critic
from frkit.papers.rlb.parity import cohort_spread, parity_gaps
from frkit.papers.rlb.probes import probe
from frkit.papers.rlb.representation_bias import convergence
from frkit.papers.rlb.truth import shifted_classes

__all__ = [
    "Critic",
    "bias_amplification",
    "cohort_spread",
    "convergence",
    "distance_correlation",
    "leakage",
    "parity_gaps",
    "probe",
    "shifted_classes",
]
