# The public names of frkit and where they live: read by lazy_loader, by editors and by type
# checkers.
# Each is imported under its own name, which says that it is public.

from . import explore as explore
from . import indices as indices
from . import measures as measures
from . import nsigma as nsigma
from . import plot as plot
from . import representation as representation
from . import studies as studies
from . import vmf as vmf
from .base import DataWarning as DataWarning
from .base import InputError as InputError
from .io.faces import faces as faces
from .io.demo import demo_faces as demo_faces
from .io.demo import demo_file as demo_file
from .evaluation.errors_by_person import errors_by_person as errors_by_person
from .evaluation.errors_by_person import worst_pairs as worst_pairs
from .evaluation.nearest import nearest_people as nearest_people
from .evaluation.evaluate import evaluate as evaluate
from .evaluation.options import far_levels as far_levels
from .evaluation.nodes import demo_evaluation as demo_evaluation
from .evaluation.nodes import open_evaluation as open_evaluation
from .evaluation.sweep import sweep as sweep
from .evaluation.verification import verification_metrics as verification_metrics
from .intervals import band as band
from .intervals import compare as compare
from .intervals import decision_zones as decision_zones
from .intervals import fair_floor as fair_floor
from .intervals import replicate_curves as replicate_curves
from .intervals import uncertainty as uncertainty
from .papers.indices.canonical import canonical_scores as canonical_scores
from .papers.indices.distributions import fairness_indices as fairness_indices
from .papers.nsigma.statistics import n_sigma as n_sigma
from .papers.rlb.representation_bias import representation_bias as representation_bias
from .reporting.look import look as look
from .io.door import open_data as open_data
from .reporting.report import report as report
from .findings.tables import table as table
from .reporting.words import describe as describe
from .resampling import Resampling as Resampling
from .io.matrix import score_matrix as score_matrix
from .io.pairs import pairs as pairs
from .scores.tensor import score_tensor as score_tensor

__version__: str
__all__: list[str]
