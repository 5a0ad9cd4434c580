"""Trials: orders, faults, a controller, and a report; a run is a trial of Cellwright's own controller.

The names are imported when they are used: a database or CRCL alone takes longer than the rest of a small command.
"""

from typing import TYPE_CHECKING

from cellwright._lazy import lazy_names

if TYPE_CHECKING:
    from cellwright.trials.cfg import TrialCfg, read_trial
    from cellwright.trials.controllers import TRIAL_CONTROLLERS
    from cellwright.trials.report import Report, TrialStatus
    from cellwright.trials.run import RunCfg, run_order
    from cellwright.trials.trial import Trial
    from cellwright.trials.trial_file import run_trial

__all__ = [
    "TRIAL_CONTROLLERS",
    "Report",
    "RunCfg",
    "Trial",
    "TrialCfg",
    "TrialStatus",
    "read_trial",
    "run_order",
    "run_trial",
]

__getattr__ = lazy_names(
    __name__,
    {
        ".cfg": "TrialCfg read_trial",
        ".controllers": "TRIAL_CONTROLLERS",
        ".report": "Report TrialStatus",
        ".run": "RunCfg run_order",
        ".trial": "Trial",
        ".trial_file": "run_trial",
    },
)
