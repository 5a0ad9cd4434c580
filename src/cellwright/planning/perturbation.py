"""Random perturbation of decisions: some of the schedules that come out are better than that of the best guesses."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

__all__ = ["NO_PERTURBATION", "Perturbation"]


@dataclass
class Perturbation:
    """The amount by which a schedule deviates; the same seed gives the same deviations.

    Attributes:
        max_delay_s: The most by which a task is taken to start later than it can.
        skip_probability: The probability that a robot lets the others go first.
    """

    max_delay_s: float = 0.0
    skip_probability: float = 0.0
    rng: random.Random = field(default_factory=lambda: random.Random(0))

    def delay_s(self) -> float:
        """Returns a random delay to add to a start."""
        return self.rng.uniform(0.0, self.max_delay_s) if self.max_delay_s else 0.0

    def skips(self) -> bool:
        """Returns whether the robot lets the others go first this time."""
        return bool(self.skip_probability) and self.rng.random() < self.skip_probability


NO_PERTURBATION = Perturbation()
