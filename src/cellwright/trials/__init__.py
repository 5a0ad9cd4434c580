"""Trials: orders, faults, a controller, and a verdict; the internal controller in a run, or any in a trial.

The names are imported when they are used: a database or CRCL alone takes longer than the rest of a small command.
"""

from typing import TYPE_CHECKING

from cellwright._lazy import lazy_names

if TYPE_CHECKING:
    from cellwright.trials.cfg import TrialCfg, read_trial
    from cellwright.trials.controllers import TRIAL_CONTROLLERS
    from cellwright.trials.run import RunCfg, run_order
    from cellwright.trials.run_report import KittingReport, KittingStatus
    from cellwright.trials.trial import run_trial

__all__ = [
    "TRIAL_CONTROLLERS",
    "KittingReport",
    "KittingStatus",
    "RunCfg",
    "TrialCfg",
    "read_trial",
    "run_order",
    "run_trial",
]

__getattr__ = lazy_names(
    __name__,
    {
        ".cfg": "TrialCfg read_trial",
        ".controllers": "TRIAL_CONTROLLERS",
        ".run": "RunCfg run_order",
        ".run_report": "KittingReport KittingStatus",
        ".trial": "run_trial",
    },
)
