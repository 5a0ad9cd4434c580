"""What a test expects of a cell; what is not met is told with the judge's reasons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cellwright.testing.cell import CellUnderTest

__all__ = ["Expect", "expect"]


def expect(cell: CellUnderTest) -> Expect:
    """Expectations about a cell: `expect(cell).kit("kit_m2l1").to_be_complete(within_s=60)`."""
    return Expect(cell)


@dataclass(frozen=True)
class Expect:
    """What can be expected of a cell."""

    cell: CellUnderTest

    def kit(self, name: str) -> ExpectKit:
        """Returns a kit, by its order's or its design's name, or by its tray's."""
        return ExpectKit(self.cell, name)

    def part(self, name: str) -> ExpectPart:
        """Returns a part, by its name, or any of a SKU or a pattern."""
        return ExpectPart(self.cell, name)

    def no_collision(self) -> None:
        """Nothing has touched what it should not have."""
        __tracebackhide__ = True
        hits = self.cell.ask("collisions")
        _check(not hits, f"{len(hits)} collisions:", hits)


@dataclass(frozen=True)
class ExpectKit:
    """About a kit, by the truth: every slot holds the right part, seated, nothing else is there, tools are clear."""

    cell: CellUnderTest
    name: str

    def to_be_complete(self, within_s: float = 0.0) -> None:
        """It is, or becomes so within that simulated time from now.

        When nobody is connected, no fault is due and nothing moves, nothing can change, and nothing is waited for.
        """
        __tracebackhide__ = True
        told = self.cell.ask("kit", name=self.name, wanted=True, within_s=within_s, waits_s=within_s)
        head = f"{self.name} is not complete at {told['time_s']:.1f} s ({told['why']}):"
        _check(told["ok"], head, [*_items(told["kits"]), *told["happened"]])

    def not_to_be_complete(self) -> None:
        """It is not, now."""
        __tracebackhide__ = True
        told = self.cell.ask("kit", name=self.name, wanted=False, within_s=0.0)
        _check(told["ok"], f"{self.name} is complete at {told['time_s']:.1f} s:", _items(told["kits"]))


@dataclass(frozen=True)
class ExpectPart:
    """About a part."""

    cell: CellUnderTest
    name: str

    def to_be_in(self, slot: str, within_s: float = 0.0) -> None:
        """It is seated in a slot, written `tray/slot`, or becomes so within that simulated time from now."""
        __tracebackhide__ = True
        told = self.cell.ask("part", name=self.name, slot=slot, wanted=True, within_s=within_s, waits_s=within_s)
        head = f"{self.name} is not in {slot} at {told['time_s']:.1f} s ({told['why']}): {told['reason']}"
        _check(told["ok"], head, told["happened"])

    def not_to_be_in(self, slot: str) -> None:
        """It is not, now."""
        __tracebackhide__ = True
        told = self.cell.ask("part", name=self.name, slot=slot, wanted=False, within_s=0.0)
        _check(told["ok"], f"{self.name} is in {slot} at {told['time_s']:.1f} s: {told['reason']}", [])


def _items(kits: list[dict[str, Any]]) -> list[str]:
    lines = []
    for kit in kits:
        lines.append(f"{kit['design']} on {kit['tray']}")
        lines += [f"  {'ok ' if item['passed'] else 'NO '} {item['name']}: {item['reason']}" for item in kit["items"]]
    return lines or ["there is no tray for it"]


def _check(ok: bool, head: str, lines: list[str]) -> None:
    __tracebackhide__ = True
    if not ok:
        raise AssertionError("\n".join([head, *(f"  {line}" for line in lines)]))
