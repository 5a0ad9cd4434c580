"""The faults that a test may cause in its cell: each as a call, at once or at a named moment."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import Any

__all__ = ["CellFaults"]

MOMENTS = {"at", "before", "during", "after"}


class CellFaults(ABC):
    """Methods for the faults of the command line."""

    @property
    @abstractmethod
    def time_s(self) -> float:
        """Simulation time."""

    @abstractmethod
    def ask(self, what: str, *, timeout_s: float = ..., waits_s: float = 0.0, **arguments: Any) -> Any:
        """Sends one question to the laboratory's process and returns the answer."""

    def fault(self, fault: str | dict[str, Any], **keys: Any) -> None:
        """Adds any fault: `cell.fault("weak_gripper", robot="fanuc", for_s=10)`, now when no moment is given.

        Without further arguments it may also be written as on the command line, `weak_gripper:robot=fanuc,at=3`.
        """
        self.ask("fault", fault={"kind": fault} | self._when(keys) if keys else fault)

    def drop(self, part: str = "*", *, during: str = "transfer 1", way_mm: float = 20.0, robot: str = "*") -> None:
        """Makes a part slip out of the hand that carries it, `during="transfer 2"`."""
        self.fault("drop", part=part, during=during, way_mm=way_mm, robot=robot)

    def push(
        self, part: str = "*", *, by_mm: float | str | tuple[float, float] = 40.0, yaw_deg: float = 0.0, **when: Any
    ) -> None:
        """Moves a part; `by_mm` is a distance, or x and y in the world. `tray=` moves a tray."""
        moved = by_mm if isinstance(by_mm, float | int | str) else "/".join(f"{shift:g}" for shift in by_mm)
        self.fault("push", part=part, by_mm=moved, yaw_deg=yaw_deg, **when)

    def remove(self, part: str, **when: Any) -> None:
        """Takes a part away."""
        self.fault("remove", part=part, **when)

    def swap(self, part: str, other: str = "*", **when: Any) -> None:
        """Exchanges two parts."""
        self.fault("swap", part=part, other=other, **when)

    def blackout(self, detector: str = "*", *, for_s: float = 5.0, **when: Any) -> None:
        """Silences a detector for a while."""
        self.fault("blackout", detector=detector, for_s=for_s, **when)

    def _when(self, keys: dict[str, Any]) -> dict[str, Any]:
        """Returns the keys with their moment; now, when none is given."""
        if not MOMENTS & set(keys):
            return {**keys, "at": self.time_s}
        return {key: _event(value) if key in MOMENTS - {"at"} else value for key, value in keys.items()}


def _event(text: Any) -> str:
    """Returns `transfer 2` as faults write it: `transfer:2`."""
    return re.sub(r"\s+", ":", str(text).strip())
