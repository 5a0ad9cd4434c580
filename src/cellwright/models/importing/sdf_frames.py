"""The frames of an SDF model: each given in another, resolved in any order in which they were written."""

from __future__ import annotations

from pathlib import Path

from cellwright.core.pose import Pose
from cellwright.models.importing.notes import DescriptionError

__all__ = ["FrameGraph"]

ROOT = "__model__"


class FrameGraph:
    """Frames by name, each with the frame that it is given in."""

    def __init__(self) -> None:
        self._given: dict[str, tuple[str, Pose, str]] = {ROOT: ("", Pose.identity(), "")}
        self._placed: dict[str, tuple[str, str]] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._given

    def add(self, name: str, parent: str, pose: Pose, where: str = "") -> None:
        """Adds a frame with its pose in another."""
        self._given.setdefault(name, (parent, pose, where))

    def place(self, model: str, at: str, anchor: str) -> None:
        """Adds a nested model's frame, such that its frame `anchor` coincides with `at`."""
        self._placed[model] = (at, anchor)
        self._given.setdefault(model, (at, Pose.identity(), ""))

    def poses(self, file: Path) -> dict[str, Pose]:
        """Returns the pose of every frame in the model's.

        Raises:
            DescriptionError: for a frame that does not exist, or frames given in each other.
        """
        found: dict[str, Pose] = {}
        for name in self._given:
            self._resolve(name, found, [], file)
        return found

    def _resolve(self, name: str, found: dict[str, Pose], above: list[str], file: Path) -> Pose:
        if name in found:
            return found[name]
        if name in above:
            raise DescriptionError(file, f"poses run in a circle: {' -> '.join([*above, name])}")
        if name not in self._given:
            where = self._given[above[-1]][2] if above else ""
            named = ", ".join(sorted(n for n in self._given if "__" not in n)[:12])
            raise DescriptionError(file, f"{where}: frame '{name}' does not exist (there are: {named})".lstrip(": "))
        parent, pose, _ = self._given[name]
        if name in self._placed:
            at, anchor = self._placed[name]
            inside = self._within(name, anchor, [], file)
            found[name] = self._resolve(at, found, [*above, name], file) @ inside.inverse()
        elif not parent:
            found[name] = pose
        else:
            found[name] = self._resolve(parent, found, [*above, name], file) @ pose
        return found[name]

    def _within(self, model: str, name: str, above: list[str], file: Path) -> Pose:
        """Returns a frame's pose in a nested model's own frame."""
        if name == model:
            return Pose.identity()
        if name in above or name not in self._given:
            raise DescriptionError(file, f"placement frame '{name}' does not exist inside its model")
        parent, pose, _ = self._given[name]
        return self._within(model, parent, [*above, name], file) @ pose
