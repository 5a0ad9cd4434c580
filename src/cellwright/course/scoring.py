"""Scoring of a program: it drives a robot in a laboratory of the exercise, and the truth is held against the task."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cellwright.core.rng import RandomStreams
from cellwright.course.exercise import EXERCISES, WATCH_S, ExerciseItem, ExerciseRun
from cellwright.lab import Lab
from cellwright.mobile import Behaviour, BusRobot, RobotReadings
from cellwright.mobile.program_process import ProgramFailed, ProgramProcess

__all__ = ["PASS_POINTS", "ExerciseScore", "score_behaviour", "score_program"]

PASS_POINTS = 60.0
UNMOVED_M = 0.01


@dataclass(frozen=True, kw_only=True)
class ExerciseScore:
    """The score of a program in an exercise with one seed.

    Attributes:
        exercise: Its name.
        seed: Gave the task and the robot.
        task: The figures that the program got.
        items: Points with reasons.
        problem: How the program failed, if it did; what it did until then counts.
    """

    exercise: str
    seed: int
    task: dict[str, Any]
    items: tuple[ExerciseItem, ...]
    problem: str = ""

    @property
    def points(self) -> float:
        """The sum, of 100."""
        return round(sum(item.points for item in self.items), 1)

    @property
    def passed(self) -> bool:
        """Whether the points are enough and the program did not fail."""
        return self.points >= PASS_POINTS and not self.problem

    def as_dict(self) -> dict[str, Any]:
        """Returns the form that is printed as JSON."""
        return {
            "exercise": self.exercise,
            "seed": self.seed,
            "task": self.task,
            "points": self.points,
            "passed": self.passed,
            "items": [vars(item) for item in self.items],
            "problem": self.problem,
        }


class _Guarded:
    """A program that may fail: from then on its robot stands."""

    def __init__(self, program: Behaviour) -> None:
        self._program = program
        self.problem = ""

    def update(self, robot: RobotReadings) -> tuple[float, float]:
        if not self.problem:
            try:
                return self._program.update(robot)
            except ProgramFailed as error:
                self.problem = f"{error} (at {robot.time_s:.2f} s)"
        return 0.0, 0.0


def score_program(exercise: str, path: Path, seed: int, record: Path | None = None) -> ExerciseScore:
    """Returns the score of a program in a file, which runs in a process of its own.

    Args:
        exercise: The exercise's name.
        path: The program.
        seed: Of the task and of everything else that is random.
        record: A log of the run, to be looked at with `cellwright log trace`.

    Raises:
        BadInput: There is no such exercise, or the file is no control program.
    """
    EXERCISES.get(exercise)
    try:
        process = ProgramProcess(path)
    except ProgramFailed as error:
        task = EXERCISES.get(exercise)().task(RandomStreams(seed).stream(f"course/{exercise}/task"))
        return ExerciseScore(exercise=exercise, seed=seed, task=task, items=(), problem=str(error))
    with process:
        return _score(exercise, process, seed, record)


def score_behaviour(exercise: str, behaviour: Behaviour, seed: int) -> ExerciseScore:
    """Returns the score of a program of this process; such a one is trusted."""
    return _score(exercise, behaviour, seed, None)


def _score(name: str, program: Behaviour, seed: int, record: Path | None) -> ExerciseScore:
    exercise = EXERCISES.get(name)()
    streams = RandomStreams(seed)
    task = exercise.task(streams.stream(f"course/{name}/task"))
    cell = exercise.cell(task, streams.stream(f"course/{name}/cell"))
    guarded = _Guarded(program)
    with Lab(cell, seed) as lab:
        if record is not None:
            lab.record(record)
        robots = list(lab.mobiles)
        own = robots[-1]
        exercise.start(lab, streams.stream(f"course/{name}/others"))
        BusRobot(lab.bus, own, guarded, lab.mobile(own).move, task=task)
        poses = [[lab.world.pose_of(robot) for robot in robots]]
        while lab.clock.time_s < exercise.time_limit_s and not guarded.problem:
            lab.advance(WATCH_S)
            poses.append([lab.world.pose_of(robot) for robot in robots])
    xy_m = np.array([[pose.position[:2] for pose in row] for row in poses])
    yaw_rad = np.array([[pose.rpy[2] for pose in row] for row in poses])
    items = exercise.score(ExerciseRun(task, cell, xy_m, yaw_rad))
    if float(np.hypot(*(xy_m[:, -1] - xy_m[0, -1]).T).max()) < UNMOVED_M and not guarded.problem:
        items = [ExerciseItem(item.name, 0.0, item.of, exercise.unmoved) for item in items]
    return ExerciseScore(exercise=name, seed=seed, task=task, items=tuple(items), problem=guarded.problem)
