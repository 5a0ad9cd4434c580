"""Cellwright's own controller claims only what it has seen: an order that it could not fill is not submitted."""

from importlib.resources import files

import yaml

from cellwright.core.config import validate
from cellwright.trials import TrialStatus, run_trial
from cellwright.trials.cfg import TrialCfg


def test_an_order_that_could_not_be_filled_is_not_submitted(tmp_path):
    """There are small gears alone: nothing can be done, and the trial ends with its controller."""
    cell = yaml.safe_load((files("cellwright.cells") / "aprs.yaml").read_text(encoding="utf-8"))
    cell["populations"] = [{"model": "small_gear", "count": 4, "trays": ["fanuc_small_tray"]}]
    (tmp_path / "cell.yaml").write_text(yaml.safe_dump(cell))
    data = {"trial": "lacking", "cell": str(tmp_path / "cell.yaml"), "time_limit_s": 60, "impossible": "note"}
    report = run_trial(validate(data | {"orders": [{"order": "kit_m2l1"}]}, TrialCfg, "trial.yaml"), "internal")
    (order,) = report.orders
    assert (order.submitted_s, report.status, report.false_done) == (None, TrialStatus.FAILED, False)
    assert not report.possible.recoverable
    assert report.account is None or not report.account.done
