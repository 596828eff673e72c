"""Bayesian networks: chains that sample networks from their posterior, all of them at once (docs/nets.md)."""

from redelve.nets.sampling.convergence import effective_size, split_rhat
from redelve.nets.sampling.posterior_samples import PosteriorSamples
from redelve.nets.sampling.sampler import sample
from redelve.nets.sampling.sampling_plan import SamplingPlan
from redelve.nets.sampling.scale_priors import NetworkPrior, ScalePrior

__all__ = [
    "NetworkPrior",
    "PosteriorSamples",
    "SamplingPlan",
    "ScalePrior",
    "effective_size",
    "sample",
    "split_rhat",
]
