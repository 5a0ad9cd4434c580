"""The interface of exercises: a task with figures from the seed, a cell, and items of a score from what happened."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from cellwright.cells import Cell
from cellwright.core.registry import Registry
from cellwright.lab import Lab

__all__ = ["EXERCISES", "WATCH_S", "Exercise", "ExerciseItem", "ExerciseRun"]

Array = npt.NDArray[np.float64]
Figures = Mapping[str, Any]

WATCH_S = 0.04


@dataclass(frozen=True)
class ExerciseItem:
    """An item of a score: points, of how many, and why."""

    name: str
    points: float
    of: float
    reason: str


@dataclass(frozen=True)
class ExerciseRun:
    """The truth about a run, every `WATCH_S`, for scoring alone.

    Attributes:
        task: The figures of the exercise.
        cell: Where it was.
        xy_m: Time, robot, x and y: (n, robots, 2); the robot of the exercise is the last one.
        yaw_rad: Time and robot.
    """

    task: Figures
    cell: Cell
    xy_m: Array
    yaw_rad: Array

    @property
    def way_m(self) -> float:
        """The length of the robot's way."""
        steps = np.diff(self.xy_m[:, -1], axis=0)
        return float(np.hypot(steps[:, 0], steps[:, 1]).sum())


class Exercise(ABC):
    """An exercise; a program is scored from 0 to 100.

    Attributes:
        title: One line.
        time_limit_s: Simulated seconds that a program has.
        unmoved: Told to somebody whose robot has not moved.
    """

    title: ClassVar[str]
    time_limit_s: ClassVar[float]
    unmoved: ClassVar[str] = "the robot has not moved: return speeds other than 0 from update"

    @abstractmethod
    def task(self, rng: np.random.Generator) -> dict[str, Any]:
        """Returns the figures of a seed, which the program gets as `robot.task`."""

    @abstractmethod
    def cell(self, task: Figures, rng: np.random.Generator) -> Cell:
        """Returns the cell; what the program must not know of it is drawn here."""

    def start(self, lab: Lab, rng: np.random.Generator) -> None:  # noqa: B027 - most exercises have nobody else
        """Lets other robots begin."""

    @abstractmethod
    def score(self, run: ExerciseRun) -> list[ExerciseItem]:
        """Returns the items; their points are of 100 together."""


EXERCISES: Registry[type[Exercise]] = Registry("exercise", "cellwright.exercises")
