"""Faults as text, for the command line and for trial files: `drop:part=*,during=transfer:2`."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, SerializeAsAny

from cellwright.core.config import validate
from cellwright.core.errors import BadInput, UnknownName
from cellwright.judge.faults.cfg import FAULTS, FaultCfg

__all__ = ["AnyFault", "parse_fault"]


def parse_fault(spec: str | dict[str, Any], where: str = "fault") -> FaultCfg:
    """Returns a fault from `kind:key=value,key=value` or from the mapping that a YAML file has.

    Raises:
        BadInput: One line that says what is allowed: the kinds, the kind's keys, the values of a key.
    """
    data = _split(spec, where) if isinstance(spec, str) else dict(spec)
    place = f"{where} '{spec}'" if isinstance(spec, str) else where
    kind = data.get("kind")
    if not isinstance(kind, str) or kind not in FAULTS:
        raise UnknownName("kind of fault", str(kind or "")[:80], FAULTS, place)
    return validate(data, FAULTS[kind], place)


def _split(spec: str, where: str) -> dict[str, Any]:
    kind, _, rest = spec.strip().partition(":")
    data: dict[str, Any] = {"kind": kind}
    if kind not in FAULTS:
        raise UnknownName("kind of fault", kind, FAULTS, f"{where} '{spec}'")
    keys = [key for key in FAULTS[kind].model_fields if key != "kind"]
    for word in rest.split(",") if rest else ():
        key, equals, value = (text.strip() for text in word.partition("="))
        if not (key and equals and value):
            raise BadInput(f"{where} '{spec}': '{word}' should be key=value, with a key of {', '.join(keys)}")
        if key not in keys:
            raise UnknownName(f"key of {kind}", key, keys, f"{where} '{spec}'")
        if key in data:
            raise BadInput(f"{where} '{spec}': '{key}' is given twice")
        data[key] = value
    return data


def _read(value: Any) -> Any:
    if not isinstance(value, str | dict):
        return value
    try:
        return parse_fault(value)
    except BadInput as error:
        raise ValueError(str(error)) from None


AnyFault = Annotated[SerializeAsAny[FaultCfg], BeforeValidator(_read)]
"""A field of a trial file that holds a fault, as text or as a mapping."""
