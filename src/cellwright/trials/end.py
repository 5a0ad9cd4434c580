"""The end of a trial: one rule for trials from files and for cells under test."""

from __future__ import annotations

from cellwright.cells import Cell, cell_hints
from cellwright.core.yaml_lines import with_line
from cellwright.judge import Recoverability
from cellwright.trials.cfg import TrialCfg
from cellwright.trials.session import TrialSession
from cellwright.trials.verdict import Ending

__all__ = ["TrialEnd", "close_session", "limit_hints", "trial_hints"]

CLEARLY = 0.5  # of what plans take at least: a limit below is hinted at
REST_S = 0.5  # what was let go, or fell, comes to rest before it is judged


class TrialEnd:
    """Decides when the orders or the clock end a trial.

    Args:
        cfg: The trial.
        session: What is looked at; its orders may be exchanged before it is asked.
    """

    def __init__(self, cfg: TrialCfg, session: TrialSession) -> None:
        self._cfg, self._session = cfg, session
        self._quiet_s = 0.0

    @property
    def submitted(self) -> bool:
        """True if every order was submitted."""
        return all(order.submitted_s is not None for order in self._session.book.orders.values())

    @property
    def left_s(self) -> float:
        """Simulated time until the limit."""
        return self._cfg.time_limit_s - self._session.lab.clock.time_s

    def reached(self, passed_s: float) -> tuple[Ending, str] | None:
        """Returns the ending of the trial and its detail; None while it goes on.

        Args:
            passed_s: Simulated time since this was asked before.
        """
        if self.submitted:
            return Ending.SUBMITTED, ""
        orders = self._session.book.orders.values()
        complete = all(order.complete_s is not None or order.submitted_s is not None for order in orders)
        self._quiet_s = self._quiet_s + passed_s if complete and self._session.still else 0.0
        if self._quiet_s > self._cfg.still_s:
            return Ending.COMPLETE, ""
        if self.left_s <= 0:
            return Ending.TIME_LIMIT, f"{self._cfg.time_limit_s:g} s"
        return None


def trial_hints(cfg: TrialCfg, cell: Cell, possible: Recoverability) -> list[str]:
    """Returns hints about the cell and the time limit: what is allowed and probably not meant."""
    return [*cell_hints(cell), *limit_hints(cfg, possible)]


def limit_hints(cfg: TrialCfg, possible: Recoverability) -> list[str]:
    """Returns a hint about a time limit far below the plan's; a controller may beat its nominal durations."""
    plan = possible.plan
    if not possible.recoverable or plan is None or cfg.time_limit_s >= CLEARLY * plan.lower_bound:
        return []
    where = f"{with_line(cfg.where, 'time_limit_s')}: time_limit_s"
    bound = f"filling all orders takes at least {plan.lower_bound:.0f} s"
    return [
        f"{where}: {cfg.time_limit_s:g} s may be too short: by the planner's durations, which another controller may "
        f"beat, {bound}"
    ]


async def close_session(session: TrialSession, ending: Ending) -> None:
    """Tells clients how it ended, closes all interfaces, and lets everything come to rest."""
    session.tell_end(ending.value)
    if ending in (Ending.SUBMITTED, Ending.COMPLETE):
        await session.lab.clock.sleep(REST_S)  # who has submitted still waits for an answer
    await session.close()
    await session.lab.clock.sleep(REST_S)
    session.update()
