"""What the built-in root tells of the methods that come with redelve: a Summary file for each.

The same texts are the `summary` of the methods. Commands that only list read this, so it imports nothing.
"""

from __future__ import annotations

FEW_CASES = """\
With fewer than five training cases, or when all have the same target, the
answer is that of "constant".
"""

IMPOSSIBLE = """\
A level that is held to be impossible, as one never seen in training, gets the
probability 1/(n+K) (n training cases, K levels) and the others are scaled
down to make room.
"""

SPREAD = """\
The predictive distribution is normal around the guess, its standard deviation
the same everywhere:"""

SUMMARIES = {
    "boosting": f"""\
Gradient boosting of regression trees on binned inputs (scikit-learn's
HistGradientBoosting), for squared error with numerical targets and for log
loss with categorical ones. Inputs and targets are encoded in the default way.
Trees have at most 31 leaves of at least n/20 cases (not less than 2, not more
than 20); the learning rate is 0.1. The number of trees is the one from 1 to
300 with the least squared error or log loss in five-fold cross-validation
with random folds, over which levels are spread evenly; with 500 training
cases or more, on the first fold only. The final trees are grown on all cases.
An angular target is predicted by its sine and cosine.
{SPREAD} the root of the least cross-validated squared error.
{IMPOSSIBLE}{FEW_CASES}\
Cost: about two seconds with 1024 training cases, little more with 8192.
Nothing was tuned on assessment datasets.
""",
    "constant": """\
The best constant answer by the training targets; inputs are not looked at.
It is what every method should beat, and it answers in place of a method that
failed where that is asked for. The guess is the mean of the training targets
for squared error, the median for absolute error and the most frequent value
for zero-one loss; of an angular target the angles with the least sum of
squared and of absolute shorter arcs. The predictive distribution of a real or
integer target is normal with the training mean and the standard deviation of
the training targets (divisor n-1) times sqrt(1+1/n); where that is zero, the
largest absolute value (or 1, if that is zero too) over n. Level i of a
categorical target with K levels has the probability (count of i + 1)/(n+K).
Nothing is random, there are no parameters, and the cost is negligible.
""",
    "forest": f"""\
Random forest (Breiman 2001) of 200 trees grown to the end on bootstrap
samples, by scikit-learn. A third of the encoded inputs is tried at each split
for numerical targets, and their square root for categorical ones. Inputs and
targets are encoded in the default way. The guess is the mean over the trees;
probabilities of levels are their shares in the leaves, averaged over the
trees. An angular target is predicted by its sine and cosine.
{SPREAD} the root mean squared out-of-bag error.
{IMPOSSIBLE}{FEW_CASES}\
Cost: about a second with 1024 training cases, half a minute with 8192 cases
and 32 inputs. Nothing was tuned on assessment datasets.
""",
    "gp": f"""\
Gaussian process with a squared exponential covariance. For numerical targets:
a length scale for each encoded input (0.01 to 10000), a signal variance (0.001
to 10000) and a noise variance (1e-6 to 100), for targets with mean 0 and
variance 1, found by maximising the marginal likelihood in their logs with
L-BFGS from length scales sqrt(d), signal 1 and noise 0.1 for at most 200
steps, on at most 512 training cases drawn at random; the process is then
conditioned on at most 2048. The predictive distribution is the normal one of
the process, noise included. For categorical targets: scikit-learn's
classification by Laplace's approximation with one common length scale, one
level against the rest, on at most 512 cases drawn at random. Inputs and
targets are encoded in the default way; an angular target is predicted by its
sine and cosine.
{IMPOSSIBLE}{FEW_CASES}\
Cost: one to ten seconds with 512 training cases or more, with several levels
as many times that.
Nothing was tuned on assessment datasets.
""",
    "knn-cv-1": """\
Nearest neighbours, their number k chosen by leave-one-out cross-validation on
the training set from 1 to 256 (less than the number of training cases), for
each target by itself. Inputs and targets are encoded in the default way and
distances are Euclidean; of training cases at the same distance the earlier is
nearer. For numerical targets the guess is the mean of the neighbours' targets
and k the smallest with the least leave-one-out squared error; the predictive
distribution is normal around the guess, its standard deviation the root of
that error (where it is zero, the answer is that of "constant"). An angular
target is the direction of the mean of the neighbours' sines and cosines. For
categorical targets with K levels the probability of a level is
(votes+1)/(k+K), k the smallest with the least leave-one-out log loss, and the
guess is the most probable level, the first of several. Nothing is random.
Cost: a tenth of a second with 1024 training cases; it grows with their square.
""",
    "lasso": f"""\
Linear regression with a penalty on absolute weights (Tibshirani 1996), for
tasks with numerical targets. The penalty is the best of 100 in geometric
progression down to a thousandth of the smallest that makes all weights zero,
by five-fold cross-validation with random folds; coordinate descent until the
duality gap is below 1e-4 or for 10000 passes (scikit-learn's LassoCV). Inputs
and targets are encoded in the default way; an angular target is predicted by
its sine and cosine.
{SPREAD} the root of the least cross-validated squared error.
{FEW_CASES}\
Cost: well below a second with 1024 training cases. Nothing was tuned on
assessment datasets.
""",
    "lin-1": """\
Linear regression by least squares, with a constant term, for tasks with
numerical targets. Inputs and targets are encoded in the default way. Inputs
that are linearly dependent, or nearly so, are handled by leaving out the
directions in which the training inputs do not vary. The guess is the value
of the linear function; the predictive distribution is normal around it.
""",
    "logistic": f"""\
Multinomial logistic regression with a penalty on squared weights, for tasks
with categorical targets. Inputs are encoded in the default way. The weight C
of the data against the penalty is chosen from 0.001, 0.01, ..., 1000 by the
log loss of five-fold cross-validation with random folds over which the levels
are spread evenly; the smallest of several best. Fitted by L-BFGS until the
gradient is below 1e-4 or for 1000 iterations (scikit-learn's
LogisticRegression). The guess is the most probable level.
{IMPOSSIBLE}{FEW_CASES}\
Cost: about a second with 1024 training cases. Nothing was tuned on assessment
datasets.
""",
    "mlp": f"""\
Ensemble of five neural networks with one hidden layer of 24 tanh units, linear
outputs for numerical targets and softmax for categorical ones. Inputs and
targets are encoded in the default way. For each network a random third of the
training cases is kept apart; it learns the rest by Adam (step 0.01, batches of
a sixteenth of the cases but not less than 16, weight decay 0.001) until the
loss on the third has not fallen for 30 passes, or for 500 passes, and is left
with the weights at which that was least. The answer is the mean of the
networks' predictions or probabilities; an angular target is predicted by its
sine and cosine, by networks of their own.
{SPREAD} the root mean squared error of the mean of those networks
that did not learn from a case, over all training cases that have such.
{IMPOSSIBLE}{FEW_CASES}\
Cost: about five seconds with 1024 training cases. Nothing was tuned on
assessment datasets.
""",
    "ridge": f"""\
Linear regression with a penalty on squared weights, for tasks with numerical
targets. The penalty is chosen from 17 values from 0.001 to 100000 in geometric
progression by leave-one-out cross-validation (scikit-learn's RidgeCV); the
constant is not penalised. Inputs and targets are encoded in the default way;
an angular target is predicted by its sine and cosine. Nothing is random.
{SPREAD} the root of the leave-one-out squared error.
{FEW_CASES}\
Cost: well below a second with 1024 training cases. Nothing was tuned on
assessment datasets.
""",
    "svm": f"""\
Support vector machines with a Gaussian kernel, by libsvm: epsilon-insensitive
regression (epsilon 0.1 in encoded units) for numerical targets, classification
(one level against another) for categorical ones, for which only guesses are
made. The cost is chosen from 1, 10 and 100 and the kernel's gamma from 1/8,
1/2 and 2 over the number of encoded inputs times their overall variance, by
five-fold cross-validation of squared error or of errors, on at most 1024
training cases drawn at random; the first of several best, small costs first.
Inputs and targets are encoded in the default way; an angular target is
predicted by its sine and cosine.
{SPREAD} the root of the least cross-validated squared error.
{FEW_CASES}\
Cost: several seconds with 1024 training cases; it grows with their square.
Nothing was tuned on assessment datasets.
""",
}


def method_files(name: str) -> dict[str, str]:
    """The files of a built-in method's folder."""
    return {"Summary": SUMMARIES[name]}
