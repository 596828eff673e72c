"""Designs: which cases train and which cases test, in every instance of a task (manual 6)."""

from redelve.model.designs.dependence import (
    DesignFacts,
    commonality_units,
    describe,
    prototask_caveats,
    random_order,
    random_order_of_groups,
    uniforms,
)
from redelve.model.designs.explicit import cross_validation_lists, explicit_instances, leave_one_out_lists
from redelve.model.designs.folds import nest
from redelve.model.designs.standard_instances import draw, draw_task

__all__ = [
    "DesignFacts",
    "commonality_units",
    "cross_validation_lists",
    "describe",
    "draw",
    "draw_task",
    "explicit_instances",
    "leave_one_out_lists",
    "nest",
    "prototask_caveats",
    "random_order",
    "random_order_of_groups",
    "uniforms",
]
