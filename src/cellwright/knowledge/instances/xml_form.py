"""Instance files in XML, in the form of the kitting workstation model: one workstation, typed elements inside it.

Objects are written inside the workstation, and others refer to them by name (`RefObjectName`). What is no object, such
as a location, a slot or a place of a design, is written inside what has it. Numbers are in the workstation's units.
"""

from __future__ import annotations

from collections import deque

from cellwright.core.errors import BadInput
from cellwright.knowledge.instances.content import Atom, Content, InstanceEntry, Ref
from cellwright.knowledge.instances.safe_xml import escaped
from cellwright.knowledge.instances.schema import InstanceProperty, classes
from cellwright.knowledge.instances.units import WorkstationUnits

__all__ = ["ROOT", "XSI", "units_of", "write_xml"]

ROOT = "KittingWorkstation"
XSI = "http://www.w3.org/2001/XMLSchema-instance"


def write_xml(content: Content) -> str:
    """Returns the whole file.

    Raises:
        BadInput: There is not exactly one workstation.
    """
    stations = [entry for entry in content.ordered() if entry.kind == ROOT]
    if len(stations) != 1:
        raise BadInput(f"{content.where} has {len(stations)} workstations; an instance file in XML describes one")
    writer = _Writer(content, stations[0])
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f'<{ROOT} xmlns:xsi="{XSI}">']
    lines += writer.inside(stations[0], 1)
    for entry in writer.others:
        lines += writer.nested("Other", entry, 1)
    return "\n".join([*lines, f"</{ROOT}>", ""])


def units_of(station: InstanceEntry) -> WorkstationUnits:
    """Returns the units that a workstation names."""
    found = [str(station.values[label][0]) if station.values.get(label) else None for label in UNIT_LABELS]
    return WorkstationUnits(*found)


UNIT_LABELS = ("lengthUnit", "angleUnit", "weightUnit")


class _Writer:
    def __init__(self, content: Content, station: InstanceEntry) -> None:
        self._entries = content.entries
        self._units = units_of(station)
        self._home: dict[Ref, tuple[Ref, str]] = {station.ref: (station.ref, "")}
        self._place(station)
        self.others = []
        for entry in content.ordered():
            if entry.ref not in self._home:
                self._home[entry.ref] = (station.ref, "Other")
                self.others.append(entry)
                self._place(entry)

    def _place(self, first: InstanceEntry) -> None:
        """Chooses where each entry is nested: near the workstation rather than deep inside."""
        waiting = deque([first])
        while waiting:
            entry = waiting.popleft()
            for label, known in classes()[entry.kind].properties.items():
                if known.kind != "record":
                    continue
                for ref in entry.values.get(label, []):
                    assert isinstance(ref, Ref)
                    is_object = classes()[ref.kind].root == classes()[ROOT].root
                    if ref in self._entries and ref not in self._home and (entry.kind == ROOT or not is_object):
                        self._home[ref] = (entry.ref, label)
                        waiting.append(self._entries[ref])

    def nested(self, element: str, entry: InstanceEntry, depth: int) -> list[str]:
        """Returns an entry where it belongs."""
        pad = "  " * depth
        opening = f'{pad}<{element} xsi:type="{entry.kind}Type">'
        return [opening, *self.inside(entry, depth + 1), f"{pad}</{element}>"]

    def inside(self, entry: InstanceEntry, depth: int) -> list[str]:
        """Returns name and properties."""
        lines = [f"{'  ' * depth}<Name>{escaped(entry.name)}</Name>"]
        for label, known in classes()[entry.kind].properties.items():
            for value in entry.values.get(label, []):
                lines += self._value(entry, known, value, depth)
        return lines

    def _value(self, entry: InstanceEntry, known: InstanceProperty, value: Atom, depth: int) -> list[str]:
        pad, name = "  " * depth, known.element
        if isinstance(value, Ref):
            if self._home.get(value) == (entry.ref, known.label):
                return self.nested(name, self._entries[value], depth)
            # Names are unique among objects, of other things only within a class.
            sure = value.kind == known.target or classes()[value.kind].root == classes()[ROOT].root
            kind = "" if sure else f' xsi:type="{value.kind}Type"'
            return [f"{pad}<{name}Name{kind}>{escaped(value.name)}</{name}Name>"]
        if isinstance(value, tuple):
            parts = zip(known.fields, value, strict=True)
            inner = [f"{pad}  {self._number(p.upper(), float(n), known)}" for p, n in parts if n is not None]
            return [f"{pad}<{name}>", *inner, f"{pad}</{name}>"]
        if known.kind == "number":
            return [pad + self._number(name, float(value), known)]
        text = str(value).lower() if isinstance(value, bool) else escaped(str(value))
        return [f"{pad}<{name}>{text}</{name}>"]

    def _number(self, name: str, number: float, known: InstanceProperty) -> str:
        return f"<{name}>{self._units.text(number, known.quantity)}</{name}>"
