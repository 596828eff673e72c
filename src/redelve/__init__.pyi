"""The public names, each from the room where it lives. This list is all: `__init__.py` reads it."""

from redelve.answers.answer import Answer as Answer
from redelve.answers.distributions import Normal as Normal
from redelve.answers.distributions import NormalMixture as NormalMixture
from redelve.answers.distributions import Quantiles as Quantiles
from redelve.answers.distributions import Samples as Samples
from redelve.answers.distributions import Student as Student
from redelve.answers.predictions import ClassProbabilities as ClassProbabilities
from redelve.answers.predictions import Guesses as Guesses
from redelve.answers.predictions import TargetDistributions as TargetDistributions
from redelve.assessment import Assessment as Assessment
from redelve.assessment import assess as assess
from redelve.assessment import compare_scores as compare_scores
from redelve.data.tables import from_file as from_file
from redelve.data.tables import from_frame as from_frame
from redelve.data.tasks import task as task
from redelve.errors import RedelveError as RedelveError
from redelve.findings.gate import gate as gate
from redelve.findings.question_race import race as race
from redelve.methods.adapters.program import Program as Program
from redelve.methods.conformance.checking import check_method as check_method
from redelve.methods.contract import METHODS as METHODS
from redelve.methods.contract import Method as Method
from redelve.methods.contract import as_method as as_method
from redelve.model import Assignment as Assignment
from redelve.performance import Prediction as Prediction
from redelve.performance import predict_performance as predict_performance
from redelve.run.cells import Limits as Limits
from redelve.run.results import Record as Record
from redelve.run.results import Results as Results
from redelve.store import Archive as Archive

__all__: list[str]
__version__: str
