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

UNSEEN = """\
The predictive distribution of a number is normal around the mean output, its
standard deviation the root mean squared error of the outputs for validation
cases (of networks that did not learn from a case, the mean of their outputs).
Levels are learnt with squared error as one of m; the guess is the level with
the largest mean output. Probabilities are (n softmax(b o) + 1/K)/(n+1) for
outputs o, K levels and the n validation cases, with b the first of 33 values
from 1/4 to 64 in geometric progression with the least log loss on them: such
outputs estimate probabilities but need not lie between 0 and 1.
"""

BATCH_DESCENT = """\
Networks with one hidden layer of 25 tanh units, identity outputs, biases and
no direct connections, after Neal (1998). The training cases are cut at random
into four parts of equal size (but for one case). Network k learns from the
other three by batch gradient descent and is judged by part k. First weights
are uniform between -0.1 and 0.1. An iteration changes the weight w_ij from
unit i to unit j by -e r_i/(N+1) times the sum over the N cases that are learnt
from of the derivative of half the squared error. There are 20000 iterations.
Of the networks after 51 of them (the rounded powers of 20000 with exponents
0, 1/55, 2/55, ..., 1) the one with the least squared error on its validation
part is used.
"""

RESTORED = """\
The step e is 0.05. If the error on the cases that are learnt from is, after
one of the 51 iterations, more than 1.05 times its least value before and more
than a hundredth of its value at first, or is no number, the network is trained
again from its first weights with half the step, up to ten times.
In the text of the paper at hand digits are lost: 25 units, 20000 iterations,
powers and floors are as generally known of it. A step of 0.5 was tried: it is
unstable for almost every network on the paper's own tasks, against its words
that the step was adequate for all tests; so 0.05 is taken. The rule for
instability and the range of first weights are ours. (The paper's program draws
them between -0.01 and 0.01 unless told otherwise; losses on kin-8nm, which is
for development, are lower with 0.1.)
The paper has one real target. Here each target has networks of its own, and
an angular one is two outputs, sine and cosine. Levels are coded with mean
zero: as 1 or 0, less the level's share of the training cases.
"""

SINGLE_PRECISION = """\
Training is in single precision. Nothing was tuned on assessment datasets.
Cost: a batch of eight instances takes ten seconds with 64 training cases and
most of a minute with 256 cases and 32 inputs.
"""

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
    "mlp-bgd-1": f"""\
Ensemble of four networks trained by batch gradient descent with early
stopping; the answer is the mean of their outputs. Inputs and targets are
encoded in the default way.
{BATCH_DESCENT}\
All r_i are 1.
{RESTORED}{UNSEEN}{FEW_CASES}{SINGLE_PRECISION}""",
    "mlp-bgd-2": f"""\
Ensemble of four networks trained by batch gradient descent with early
stopping, with steps by the present relevance of the inputs; the answer is the
mean of their outputs. Inputs and targets are encoded in the default way.
{BATCH_DESCENT}\
For the weights out of input i, r_i = (G_i/max G)^2, where G_i is at each
iteration the sum over these weights of their squared summed derivatives; for
biases and for weights out of hidden units r is 1.
{RESTORED}{UNSEEN}{FEW_CASES}{SINGLE_PRECISION}""",
    "mlp-bgd-2b": f"""\
The first of the four networks of mlp-bgd-2 alone. Inputs and targets are
encoded in the default way.
{BATCH_DESCENT}\
For the weights out of input i, r_i = (G_i/max G)^2, where G_i is at each
iteration the sum over these weights of their squared summed derivatives; for
biases and for weights out of hidden units r is 1.
{RESTORED}{UNSEEN}{FEW_CASES}{SINGLE_PRECISION}""",
    "mlp-bgd-3": f"""\
Ensemble of four networks trained by batch gradient descent with early
stopping, with steps by the correlations of inputs with the target; the answer
is the mean of their outputs. Inputs and targets are encoded in the default
way.
{BATCH_DESCENT}\
For the weights out of input i, r_i = max(0.0001, C_i^4/max C^4), where C_i is
the sum over the cases that are learnt from of input times target (for several
outputs the root of the sum of its squares); for other weights r is 1. This is
done by multiplying input i by the root of r_i.
{RESTORED}{UNSEEN}{FEW_CASES}{SINGLE_PRECISION}""",
    "mlp-ese-1": f"""\
Ensemble of ten early-stopped networks trained by conjugate gradients, after
Rasmussen's method of the same name (1996) as far as Neal (1998) describes it:
random splits of the training cases, one hidden layer of tanh units, direct
connections from inputs to outputs, training that goes on for a while after
the error on the validation cases begins to rise, the mean of all outputs.
Inputs and targets are encoded in the default way. What follows is ours. Each
network has 25 hidden units, identity outputs, biases, first weights uniform
between -0.1 and 0.1, and a third of the cases, drawn at random, for
validation. It learns the others with squared error by scaled conjugate
gradients (Moller 1993; sigma 0.0001, first lambda 0.000001) until the squared
error on the third is 20 percent above its least value so far or for 500
iterations, and is left with the weights at which it was least, measured after
every iteration. The original has as many networks as a given time allows.
Each target has networks of its own; an angular one is two outputs, sine and
cosine. Levels are coded with mean zero: as 1 or 0, less the level's share of
the training cases.
{UNSEEN}{FEW_CASES}\
Cost: about two seconds with 256 training cases and 32 inputs. Nothing was
tuned on assessment datasets.
""",
    "mlp-rprop": f"""\
One network trained by PROBEN1's procedure (Prechelt 1994, section 3.3), with
one hidden layer of 16 units x/(1+|x|), identity outputs, biases and all
shortcut connections. Inputs and numerical targets are encoded in the default
way (PROBEN1's files are scaled to 0...1). One network learns all numerical
targets, with an output for each; an angular one has two, sine and cosine. Each
categorical target has a network of its own, with outputs 1 and 0.
The validation cases are those that the task sets apart (PROBEN1's own
partitions), else a third of the training cases, drawn at random. The others
are learnt with squared error by RPROP with weight backtracking: eta+ 1.2, eta-
0.5, first steps uniform between 0.005 and 0.02 for each weight, largest step
50, least step 0, first weights uniform between -0.01 and 0.01 (section 3.3.1;
3.3.3 has the same for networks with hidden layers). After every five epochs
the error on the validation cases is measured. Training ends when it is more
than 5 percent above its least value so far (GL_5), when the mean training
error of the five epochs is less than 0.1 per thousand above their least
(P_5), or after 3000 epochs. The network with the least error on the
validation cases is used; they are not learnt from in the end. The number of
hidden units is ours: PROBEN1 chose one for each problem.
{UNSEEN}{FEW_CASES}\
Cost: well below a second with 1024 training cases. Nothing was tuned on
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
