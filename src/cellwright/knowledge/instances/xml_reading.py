"""Reads instance files in the XML form; errors name the line."""

from __future__ import annotations

from typing import Any

from cellwright.knowledge.instances.content import Atom, Content, InstanceEntry, Ref
from cellwright.knowledge.instances.errors import InstanceError
from cellwright.knowledge.instances.safe_xml import parse
from cellwright.knowledge.instances.schema import InstanceClass, InstanceProperty, classes, is_below, vocabulary_iris
from cellwright.knowledge.instances.units import FACTORS, WorkstationUnits
from cellwright.knowledge.instances.xml_form import ROOT, UNIT_LABELS, XSI

__all__ = ["read_xml"]

TYPE = f"{{{XSI}}}type"
BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


def read_xml(data: bytes, where: str) -> Content:
    """Returns all that the file describes.

    Raises:
        InstanceError: It is no such file, or speaks of what the ontology does not have.
    """
    root = parse(data, where)
    if root.tag != ROOT:
        raise InstanceError(where, f"begins with {root.tag}, it should begin with {ROOT}", root.sourceline)
    reader = _Reader(where, root)
    reader.read(root, ROOT)
    reader.resolve()
    return reader.content


class _Reader:
    def __init__(self, where: str, root: Any) -> None:
        self.content = Content(where)
        self._where = where
        self._units = self._read_units(root)
        self._by_element: dict[str, dict[str, InstanceProperty]] = {}
        self._open: list[tuple[InstanceEntry, InstanceProperty, int, Any]] = []  # references to names
        self._names: dict[str, list[Ref]] = {}

    def _read_units(self, root: Any) -> WorkstationUnits:
        found = []
        for label in UNIT_LABELS:
            known = classes()[ROOT].properties[label]
            element = root.find(known.element)
            text = None if element is None else (element.text or "").strip()
            if text is not None and (text not in known.words or text not in FACTORS):
                problem = f"{known.element} is '{text}' (available: {', '.join(known.words)})"
                raise InstanceError(self._where, problem, element.sourceline)
            found.append(text)
        return WorkstationUnits(*found)

    def read(self, element: Any, kind: str) -> Ref:
        """Returns an entry and everything inside it."""
        name = element.find("Name")
        if name is None:
            raise self._wrong(element, f"{kind} has no Name")
        entry = InstanceEntry(kind, name.text or "", line=element.sourceline)
        self.content.add(entry)
        self._names.setdefault(entry.name, []).append(entry.ref)
        described = classes()[kind]
        for child in element:
            if child.tag == "Name":
                continue
            if child.tag == "Other" and kind == ROOT:
                self.read(child, self._kind(child, None))
                continue
            known = self._elements(described).get(child.tag)
            if known is None:
                allowed = ", ".join(self._elements(described))
                raise self._wrong(child, f"{kind} '{entry.name}': {child.tag} is unknown (available: {allowed})")
            values = entry.values.setdefault(known.label, [])
            entry.lines.setdefault(known.label, child.sourceline)
            if known.kind == "record" and child.tag != known.element:
                self._open.append((entry, known, len(values), child))
                values.append(Ref("", child.text or ""))
            else:
                values.append(self._atom(child, known))
        return entry.ref

    def _elements(self, described: InstanceClass) -> dict[str, InstanceProperty]:
        if described.name not in self._by_element:
            found = {p.element: p for p in described.properties.values()}
            names = {f"{p.element}Name": p for p in described.properties.values() if p.kind == "record"}
            self._by_element[described.name] = names | found
        return self._by_element[described.name]

    def _atom(self, element: Any, known: InstanceProperty) -> Atom:
        try:
            if known.kind == "record":
                return self.read(element, self._kind(element, known))
            if known.kind == "value":
                given = {child.tag: child for child in element}
                if odd := set(given) - {part.upper() for part in known.fields}:
                    raise ValueError(f"has '{min(odd)}' (available: {', '.join(p.upper() for p in known.fields)})")
                parts = [given.get(part.upper()) for part in known.fields]
                return tuple(None if p is None else self._units.number(p.text or "", known.quantity) for p in parts)
            text = element.text or ""
            if len(element):
                raise ValueError(f"should be a {known.kind}, not an element with elements inside")
            if known.kind == "number":
                return self._units.number(text, known.quantity)
            if known.kind == "boolean":
                if text.strip() not in BOOLEANS:
                    raise ValueError(f"is '{text.strip()}' (available: {', '.join(BOOLEANS)})")
                return BOOLEANS[text.strip()]
            if known.kind == "integer":
                if not text.strip().lstrip("+-").isdecimal():
                    raise ValueError(f"is '{text.strip()}', it should be a whole number")
                return int(text)
            return text
        except ValueError as error:
            raise self._wrong(element, f"{element.tag} {error}") from None

    def _kind(self, element: Any, known: InstanceProperty | None) -> str:
        """Returns the class that an element says it is of, or the only one that it can be of."""
        type_name = element.get(TYPE)
        if type_name is not None:
            return str(type_name).rpartition(":")[2].removesuffix("Type")
        if known is None or classes()[known.target].abstract:
            raise self._wrong(element, f"{element.tag} needs an xsi:type, such as PartType")
        return known.target

    def resolve(self) -> None:
        """Finds what names refer to, in the file or among the ontology's own individuals."""
        for kind, name in vocabulary_iris().values():
            self._names.setdefault(name, []).append(Ref(kind, name))
        for entry, known, number, element in self._open:
            name, type_name = element.text or "", element.get(TYPE)
            fitting = [ref for ref in self._names.get(name, []) if is_below(ref.kind, known.target)]
            exact = [ref for ref in fitting if ref.kind == (self._kind(element, known) if type_name else known.target)]
            if not fitting:
                raise self._wrong(element, f"{element.tag}: there is no {known.target} '{name}'")
            if not exact and len(fitting) > 1:
                kinds = ", ".join(ref.kind for ref in fitting)
                raise self._wrong(element, f"{element.tag}: '{name}' may be a {kinds}; say which by xsi:type")
            entry.values[known.label][number] = (exact or fitting)[0]

    def _wrong(self, element: Any, problem: str) -> InstanceError:
        return InstanceError(self._where, problem, element.sourceline)
