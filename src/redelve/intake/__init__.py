"""Intake: from a user's table to redelve's nouns, with a reason for every decision."""

from redelve.intake.assembly import Intake, assignments_from_table, from_file, from_frame
from redelve.intake.description import (
    ColumnDescription,
    Description,
    format_description,
    read_description,
    write_description,
)
from redelve.intake.design import DesignChoice, choose_design

__all__ = [
    "ColumnDescription",
    "Description",
    "DesignChoice",
    "Intake",
    "assignments_from_table",
    "choose_design",
    "format_description",
    "from_file",
    "from_frame",
    "read_description",
    "write_description",
]
