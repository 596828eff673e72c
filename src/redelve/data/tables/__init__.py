"""Intake: from a user's table to redelve's nouns, with a reason for every decision."""

from redelve.data.tables.assembly import Intake, assignments_from_table, from_file, from_frame
from redelve.data.tables.description import (
    ColumnDescription,
    Description,
    format_description,
    read_description,
    write_description,
)
from redelve.data.tables.first_look import DesignChoice, choose_design

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
