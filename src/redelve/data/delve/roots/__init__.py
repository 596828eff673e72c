"""Delve directories: which are active, how they overlay, and what an address names in them."""

from redelve.data.delve.roots.addresses import (
    DataAddress,
    MethodAddress,
    TaskName,
    join_address,
    split_address,
)
from redelve.data.delve.roots.finding import (
    active,
    builtin_root,
    containing_root,
    current_directory,
    make_builtin_root,
)
from redelve.data.delve.roots.one_root import Part, Root, is_delve_directory, within_root
from redelve.data.delve.roots.overlay import Overlay

__all__ = [
    "DataAddress",
    "MethodAddress",
    "Overlay",
    "Part",
    "Root",
    "TaskName",
    "active",
    "builtin_root",
    "containing_root",
    "current_directory",
    "is_delve_directory",
    "join_address",
    "make_builtin_root",
    "split_address",
    "within_root",
]
