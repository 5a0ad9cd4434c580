"""Decisions that are a little wrong: some schedules that come out are better than the one of the best guesses."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

__all__ = ["NO_PERTURBATION", "Perturbation"]


@dataclass
class Perturbation:
    """How much a schedule deviates; the same seed gives the same whims.

    Attributes:
        most_s: By how much later than it can start a task is thought to start, at most.
        passing: How often a robot lets the others go first.
    """

    most_s: float = 0.0
    passing: float = 0.0
    rng: random.Random = field(default_factory=lambda: random.Random(0))

    def delay_s(self) -> float:
        """Something to add to a start."""
        return self.rng.uniform(0.0, self.most_s) if self.most_s else 0.0

    def passes(self) -> bool:
        """Returns whether the robot lets the others go first this time."""
        return bool(self.passing) and self.rng.random() < self.passing


NO_PERTURBATION = Perturbation()
