"""Expectations about a cell; those that are not met are reported with the judge's reasons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cellwright.testing.cell import CellUnderTest

__all__ = ["Expect", "expect"]


def expect(cell: CellUnderTest) -> Expect:
    """Returns expectations about a cell under test: `cw.expect(cell).kit("kit_m2l1").to_be_complete(within_s=60)`."""
    return Expect(cell)


@dataclass(frozen=True)
class Expect:
    """Expectations about a cell."""

    cell: CellUnderTest

    def kit(self, name: str) -> ExpectKit:
        """Returns a kit, by its order's or its design's name, or by its tray's."""
        return ExpectKit(self.cell, name)

    def part(self, name: str) -> ExpectPart:
        """Returns a part, by its name, or any of a SKU or a pattern."""
        return ExpectPart(self.cell, name)

    def no_collision(self) -> None:
        """Expects that nothing has touched what it should not have."""
        __tracebackhide__ = True
        hits = self.cell.ask("collisions")
        _check(self.cell, not hits, f"{len(hits)} collisions until {self.cell.time_s:.1f} s:", hits)


@dataclass(frozen=True)
class ExpectKit:
    """Expectations about a kit, by the truth: right parts seated in all slots, nothing else there, tools clear."""

    cell: CellUnderTest
    name: str

    def to_be_complete(self, within_s: float = 0.0) -> None:
        """Expects that the kit is complete, or becomes so within that simulated time from now.

        When no client is connected, no fault is due and nothing moves, nothing can change, and nothing is waited for.
        """
        __tracebackhide__ = True
        answer = self.cell.ask("kit", name=self.name, wanted=True, within_s=within_s, waits_s=within_s)
        head = f"{self.name} is not complete at {answer['time_s']:.1f} s ({answer['why']}):"
        _check(self.cell, answer["ok"], head, [*_items(answer["kits"]), *answer["happened"]])

    def not_to_be_complete(self) -> None:
        """Expects that it is not so now."""
        __tracebackhide__ = True
        answer = self.cell.ask("kit", name=self.name, wanted=False, within_s=0.0)
        _check(self.cell, answer["ok"], f"{self.name} is complete at {answer['time_s']:.1f} s:", _items(answer["kits"]))


@dataclass(frozen=True)
class ExpectPart:
    """Expectations about a part."""

    cell: CellUnderTest
    name: str

    def to_be_in(self, slot: str, within_s: float = 0.0) -> None:
        """Expects that it is seated in a slot, `tray/slot`, or becomes so within that simulated time from now."""
        __tracebackhide__ = True
        answer = self.cell.ask("part", name=self.name, slot=slot, wanted=True, within_s=within_s, waits_s=within_s)
        head = f"{self.name} is not in {slot} at {answer['time_s']:.1f} s ({answer['why']}): {answer['reason']}"
        _check(self.cell, answer["ok"], head, answer["happened"])

    def not_to_be_in(self, slot: str) -> None:
        """Expects that it is not so now."""
        __tracebackhide__ = True
        answer = self.cell.ask("part", name=self.name, slot=slot, wanted=False, within_s=0.0)
        _check(self.cell, answer["ok"], f"{self.name} is in {slot} at {answer['time_s']:.1f} s: {answer['reason']}", [])


def _items(kits: list[dict[str, Any]]) -> list[str]:
    lines = []
    for kit in kits:
        lines.append(f"{kit['design']} on {kit['tray']}")
        lines += [f"  {'ok ' if item['passed'] else 'NO '} {item['name']}: {item['reason']}" for item in kit["items"]]
    return lines or ["there is no tray for it"]


def _check(cell: CellUnderTest, ok: bool, head: str, lines: list[str]) -> None:
    __tracebackhide__ = True
    if not ok:
        raise AssertionError("\n".join([head, *(f"  {line}" for line in [*lines, *cell.show_failure()])]))
