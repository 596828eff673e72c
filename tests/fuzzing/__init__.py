"""Mutated inputs of every kind that redelve reads, each given to the commands that read it.

`python -m tests.fuzzing --count 500 --seed 1` tries as many; `--only 17` does one of them again and keeps it.
"""
