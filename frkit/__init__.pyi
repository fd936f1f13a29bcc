# The public names of frkit and where they live: read by __init__.py, by editors and by type checkers.
# Each is imported under its own name, which says that it is public.

from frkit import explore as explore
from frkit import indices as indices
from frkit import intervals as intervals
from frkit import measures as measures
from frkit import nsigma as nsigma
from frkit import plot as plot
from frkit import representation as representation
from frkit import studies as studies
from frkit import vmf as vmf
from frkit.base import DataWarning as DataWarning
from frkit.base import InputError as InputError
from frkit.evaluation.contributions import contributions as contributions
from frkit.evaluation.contributions import worst_pairs as worst_pairs
from frkit.evaluation.evaluate import evaluate as evaluate
from frkit.evaluation.evaluate import far_levels as far_levels
from frkit.evaluation.nodes import demo_evaluation as demo_evaluation
from frkit.evaluation.nodes import open_evaluation as open_evaluation
from frkit.evaluation.thresholds import threshold_for_all_groups as threshold_for_all_groups
from frkit.evaluation.verification import verification as verification
from frkit.faces import faces as faces
from frkit.faces import stack_models as stack_models
from frkit.faces.opening import demo_faces as demo_faces
from frkit.faces.opening import demo_file as demo_file
from frkit.faces.opening import open_faces as open_faces
from frkit.indices import canonical_scores as canonical_scores
from frkit.indices import fairness_indices as fairness_indices
from frkit.intervals import band as band
from frkit.intervals import compare as compare
from frkit.intervals import decision_zones as decision_zones
from frkit.intervals import fan as fan
from frkit.intervals import floor as floor
from frkit.intervals import permutation_test as permutation_test
from frkit.intervals import uncertainty as uncertainty
from frkit.nsigma import n_sigma as n_sigma
from frkit.reporting.opening import open_data as open_data
from frkit.reporting.report import report as report
from frkit.reporting.tables import table as table
from frkit.reporting.words import describe as describe
from frkit.representation import representation_bias as representation_bias
from frkit.resampling import Resampling as Resampling
from frkit.scores.matrix import open_scores as open_scores
from frkit.scores.matrix import score_matrix as score_matrix
from frkit.scores.pair_files import open_pairs as open_pairs
from frkit.scores.pairs import pairs as pairs
from frkit.scores.tensor import score_tensor as score_tensor

__version__: str
__all__: list[str]
