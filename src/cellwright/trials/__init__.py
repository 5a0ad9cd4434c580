"""Trials: orders, faults, a controller, and a verdict; the internal controller in a run, or any in a trial.

The names are imported when they are used: a database or CRCL alone takes longer than the rest of a small command.
"""

from typing import TYPE_CHECKING

from cellwright._lazy import lazy_names

if TYPE_CHECKING:
    from cellwright.trials.run import RunCfg, run_order
    from cellwright.trials.run_report import KittingReport, KittingStatus

__all__ = ["KittingReport", "KittingStatus", "RunCfg", "run_order"]

__getattr__ = lazy_names(
    __name__,
    {
        ".run": "RunCfg run_order",
        ".run_report": "KittingReport KittingStatus",
    },
)
