"""CLOP, the learning objects of the performance prediction challenge (docs/clop.md).

Guyon, Saffari, Dror and Buhmann (2006), Performance Prediction Challenge, section V: the paper's names, as
scikit-learn estimators.
"""

from redelve.methods.clop.bayes import NaiveBayesClassifier
from redelve.methods.clop.chains import Chain
from redelve.methods.clop.ensembles import Ensemble, stacked
from redelve.methods.clop.filters import GramSchmidt, Relief, SignalToNoise
from redelve.methods.clop.forest import ForestClassifier
from redelve.methods.clop.hyperparameters import UnsuitedError, default
from redelve.methods.clop.kernel_machines import KernelRidgeClassifier, SupportVectorClassifier
from redelve.methods.clop.networks import NeuralClassifier
from redelve.methods.clop.notation import parse_object
from redelve.methods.clop.objects import LabelledData, test, train
from redelve.methods.clop.preprocessing import (
    PatternNormalizer,
    PrincipalComponents,
    ShifterAndScaler,
    Standardizer,
    Subsample,
)
from redelve.methods.clop.saving import UntrustedError, load, save
from redelve.methods.clop.selection import Bootstrap, CrossValidation, GridSelection, HoldOut
from redelve.methods.clop.wrappers import ForestRanking, RecursiveElimination

kridge = KernelRidgeClassifier
naive = NaiveBayesClassifier
neural = NeuralClassifier
rf = ForestClassifier
svc = SupportVectorClassifier
standardize = Standardizer
normalize = PatternNormalizer
shift_n_scale = ShifterAndScaler
pc_extract = PrincipalComponents
subsample = Subsample
s2n = SignalToNoise
relief = Relief
gs = GramSchmidt
rffs = ForestRanking
svcrfe = RecursiveElimination
chain = Chain
ensemble = Ensemble
cv = CrossValidation
holdout = HoldOut
bootstrap = Bootstrap
grid = GridSelection
data = LabelledData

OBJECTS = (
    *(kridge, naive, neural, rf, svc),
    *(standardize, normalize, shift_n_scale, pc_extract, subsample),
    *(s2n, relief, gs, rffs, svcrfe),
    *(chain, ensemble, cv, holdout, bootstrap, grid),
)
"""All learning objects, in the order of the paper."""

__all__ = [
    "OBJECTS",
    "UnsuitedError",
    "UntrustedError",
    "bootstrap",
    "chain",
    "cv",
    "data",
    "default",
    "ensemble",
    "grid",
    "gs",
    "holdout",
    "kridge",
    "load",
    "naive",
    "neural",
    "normalize",
    "parse_object",
    "pc_extract",
    "relief",
    "rf",
    "rffs",
    "s2n",
    "save",
    "shift_n_scale",
    "stacked",
    "standardize",
    "subsample",
    "svc",
    "svcrfe",
    "test",
    "train",
]
