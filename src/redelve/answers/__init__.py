"""What a method says and what it costs it: answers, predictions, distributions, losses, baselines, scores."""
