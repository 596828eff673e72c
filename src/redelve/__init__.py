"""redelve: find out, validly, how well learning methods learn and which is better."""

__version__ = "0.1.0"
