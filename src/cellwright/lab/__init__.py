"""The laboratory: wires one of everything for a cell."""

from typing import TYPE_CHECKING

from cellwright._lazy import lazy_names
from cellwright.lab.lab import Lab

if TYPE_CHECKING:
    from cellwright.lab.job import JobReport, TransferJob, run_transfer
    from cellwright.lab.plan import plan_order

__all__ = ["JobReport", "Lab", "TransferJob", "plan_order", "run_transfer"]

__getattr__ = lazy_names(
    __name__,
    {
        ".job": "JobReport TransferJob run_transfer",
        ".plan": "plan_order",
    },
)
