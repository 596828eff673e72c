"""Designs: which cases train and which cases test, in every instance of a task (manual 6)."""

from redelve.designs.explicit import cross_validation_lists, explicit_instances, leave_one_out_lists
from redelve.designs.facts import DesignFacts, describe, prototask_caveats
from redelve.designs.groups import commonality_units
from redelve.designs.nested import nest
from redelve.designs.order import random_order, random_order_of_groups, uniforms
from redelve.designs.standard import draw

__all__ = [
    "DesignFacts",
    "commonality_units",
    "cross_validation_lists",
    "describe",
    "draw",
    "explicit_instances",
    "leave_one_out_lists",
    "nest",
    "prototask_caveats",
    "random_order",
    "random_order_of_groups",
    "uniforms",
]
