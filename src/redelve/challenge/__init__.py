"""Challenges in predicting performance: data, rules, submissions, scoring, and the server that runs them."""
