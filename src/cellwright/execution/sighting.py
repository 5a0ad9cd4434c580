"""Looking at trays, of which those that are carried about may be gone: somebody took them away."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cellwright.execution.failure import FailureKind, StepFailed
from cellwright.execution.look import Look, Looked
from cellwright.execution.view import CellView

__all__ = ["look_at_trays"]


async def look_at_trays(
    look: Look, view: CellView, trays: Sequence[str], others: Iterable[str] = (), sightings: int | None = None
) -> Looked:
    """Returns a fresh look at trays, and at other things that may be gone.

    Raises:
        StepFailed: A tray that is carried about is not seen, although what stands still is; it is gone then.
        CannotSee: Nothing is seen any more.
    """
    movable = [tray for tray in trays if view.is_movable(tray)]
    fixed = [tray for tray in trays if tray not in movable]
    if movable and not fixed:
        sources = {view.belief.source(tray) for tray in movable}
        standing = [tray for tray in view.trays() if not view.is_movable(tray)]
        fixed = [tray for tray in standing if view.belief.source(tray) in sources][:1]
        if not fixed:
            fixed, movable = movable, []
    looked = await look.at(fixed, [*movable, *others], sightings)
    gone = [tray for tray in movable if tray in looked.unseen]
    if gone:
        view.gone.update(gone)
        raise StepFailed(FailureKind.NOT_THERE, f"{gone[0]} is not seen any more", gone[0])
    return looked
