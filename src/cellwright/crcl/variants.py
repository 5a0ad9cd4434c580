"""Documents of the schemas from 2014 to 2020, rewritten as those of 2021.

| until | was | is |
|---|---|---|
| 2016 | states `Done`, `Error`, `Working`, `Ready`; some tools wrote them in capitals | `CRCL_Done` and so on |
| 2016 | a status with `Pose` | `PoseStatus` with `Pose` |
| 2019 | `ConfigureStatusReport` with four flags | six; sensors and guards, which did not exist, are not reported |
| 2020 | `PoseTolerance` in the settings | `EndPoseTolerance` |

Two slips that the standard invites are corrected too: the unit `mm`, which its reference text has where the schema says
`millimeter`, and the names `ScalarValue` and `CountValue` without the dot that the schema ends them with.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cellwright.crcl.parser import XSI_TYPE
from cellwright.crcl.types import XML_SPACE

__all__ = ["modernise"]

_STATES = {state.lower(): f"CRCL_{state}" for state in ("Done", "Error", "Working", "Ready")}
_NEWER_FLAGS = ("ReportSensorsStatus", "ReportGuardsStatus")


def modernise(root: Any) -> bool:
    """Rewrites in place what older schemas had otherwise; returns whether anything was rewritten."""
    changed = False
    for element in list(root.iter()):
        rule = _RULES.get(element.get(XSI_TYPE) or element.tag)
        if rule is not None:
            changed |= rule(element)
    return changed


def _state(element: Any) -> bool:
    text = (element.text or "").strip(XML_SPACE)
    newer = _STATES.get(text.lower().removeprefix("crcl_"))
    if newer is None or newer == element.text:
        return False
    element.text = newer
    return True


def _unit(element: Any) -> bool:
    if (element.text or "").strip(XML_SPACE) != "mm":
        return False
    element.text = "millimeter"
    return True


def _pose(element: Any) -> bool:
    parent = element.getparent()
    if parent is None or parent.tag != "CRCLStatus":
        return False
    wrapper = element.makeelement("PoseStatus")
    parent.replace(element, wrapper)
    wrapper.append(element)
    return True


def _renamer(newer: str, inside: str = "") -> Callable[[Any], bool]:
    def rename(element: Any) -> bool:
        parent = element.getparent()
        if inside and (parent is None or parent.tag != inside):
            return False
        element.tag = newer
        return True

    return rename


def _add_flags(command: Any) -> bool:
    missing = [flag for flag in _NEWER_FLAGS if command.find(flag) is None]
    if len(missing) < len(_NEWER_FLAGS):
        return False
    for flag in missing:
        element = command.makeelement(flag)
        element.text = "false"
        command.append(element)
    return True


# By the type that an element states, or by its name.
_RULES: dict[str, Callable[[Any], bool]] = {
    "CommandState": _state,
    "UnitName": _unit,
    "LengthUnitName": _unit,
    "Pose": _pose,
    "PoseTolerance": _renamer("EndPoseTolerance", inside="SettingsStatus"),
    "ScalarValue": _renamer("ScalarValue."),
    "CountValue": _renamer("CountValue."),
    "ConfigureStatusReportType": _add_flags,
}
