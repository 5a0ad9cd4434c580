"""Checks: whether a cell or a model is fit for use, each finding with its remedy.

The names are imported when they are used: a check of a cell loads everything that a cell is made of.
"""

from typing import TYPE_CHECKING

from cellwright._lazy import lazy_names

if TYPE_CHECKING:
    from cellwright.checks.cell import check_cell
    from cellwright.checks.finding import Finding
    from cellwright.checks.model import check_model

__all__ = ["Finding", "check_cell", "check_model"]

__getattr__ = lazy_names(__name__, {".cell": "check_cell", ".finding": "Finding", ".model": "check_model"})
