"""Faults as text, for the command line and for trial files: `drop:part=*,during=transfer:2`."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, SerializeAsAny

from cellwright.core.config import Uniform, validate
from cellwright.core.errors import BadInput, UnknownName
from cellwright.judge.faults.cfg import FaultCfg
from cellwright.judge.faults.fault import Fault
from cellwright.judge.faults.library import FAULTS

__all__ = ["AnyFault", "fault_kind", "fault_text", "parse_fault"]


def parse_fault(spec: str | dict[str, Any], where: str = "fault") -> FaultCfg:
    """Returns a fault from `kind:key=value,key=value` or from the mapping that a YAML file has.

    Raises:
        BadInput: One line that says what is allowed: the kinds, the kind's keys, the values of a key.
    """
    data = _split(spec, where) if isinstance(spec, str) else dict(spec)
    place = f"{where} '{spec}'" if isinstance(spec, str) else where
    kind = data.get("kind")
    if not isinstance(kind, str):
        raise FAULTS.unknown(str(kind or "")[:80], place)
    return validate(data, _cfg_class(kind, place), place)


def fault_kind(spec: Any) -> str:
    """Returns the kind of a fault, also of one that is written as text or as a mapping, whether it exists or not."""
    if isinstance(spec, FaultCfg):
        return spec.kind
    kind = (
        spec.partition(":")[0].strip() if isinstance(spec, str) else spec.get("kind") if isinstance(spec, dict) else ""
    )
    return kind if isinstance(kind, str) else ""


def _cfg_class(kind: str, where: str) -> type[FaultCfg]:
    """Returns the configuration of a kind, which may be of a plugin."""
    found = FAULTS.get(kind, where)
    cfg = getattr(found, "Cfg", None)
    if not (
        isinstance(found, type) and issubclass(found, Fault) and isinstance(cfg, type) and issubclass(cfg, FaultCfg)
    ):
        raise BadInput(f"{where}: {FAULTS.kind} '{kind}' should be a subclass of Fault with a FaultCfg as its Cfg")
    return cfg


def fault_text(fault: FaultCfg) -> str:
    """Returns a fault as it is written on the command line."""
    words = []
    for key in sorted(fault.model_fields_set - {"kind"}):
        value = getattr(fault, key)
        if isinstance(value, Uniform):
            value = f"{value.low:g}..{value.high:g}"
        elif isinstance(value, tuple):
            value = "/".join(f"{number:g}" for number in value)
        words.append(f"{key}={value}")
    return f"{fault.kind}:{','.join(words)}"


def _split(spec: str, where: str) -> dict[str, Any]:
    kind, _, rest = spec.strip().partition(":")
    data: dict[str, Any] = {"kind": kind}
    keys = [key for key in _cfg_class(kind, f"{where} '{spec}'").model_fields if key != "kind"]
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
