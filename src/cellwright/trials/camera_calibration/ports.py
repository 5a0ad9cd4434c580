"""The ports of a camera calibration besides those of a controller: a board that is held up, and pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from cellwright.core.pose import Pose
from cellwright.perception.picture import Picture

__all__ = ["BoardHands"]


class BoardHands(Protocol):
    """A person with the calibration board, who takes pictures."""

    def show(self, pose_board_in_world: Pose) -> None:
        """Holds the board up about there; nearer to the camera, or not at all, where something is in the way."""

    def mount(self, robot: str, pose_board_in_tool: Pose) -> None:
        """Fixes the board to a robot's hand about there; from then on it moves with that."""

    def put_away(self) -> None:
        """Takes the board out of the cell."""

    def take(self, cameras: Sequence[str]) -> Mapping[str, Picture]:
        """Returns a picture of each of these cameras, of this moment."""
