"""Trials as YAML files: which cell, which orders announced when, what goes wrong, how long it may take."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, PrivateAttr, ValidationInfo, field_validator, model_validator

from cellwright.cells import load_cell
from cellwright.core.config import Cfg, parse_yaml, validate
from cellwright.core.errors import BadInput, UnknownName
from cellwright.core.files import read_text
from cellwright.judge import FAULTS, AnyFault, Points, fault_kind
from cellwright.orders import DESIGNS
from cellwright.trials.controllers import TRIAL_CONTROLLERS

__all__ = ["EXTERNAL", "AnnounceCfg", "TrialCfg", "TrialOrderCfg", "make_trial", "read_trial", "trial_json_schema"]

Name = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_.-]*$", max_length=80)]
EXTERNAL = "external"
LONGEST_S = 86_400.0
Seconds = Annotated[float, Field(gt=0, le=LONGEST_S)]
Worth = Annotated[float, Field(ge=0, le=1000)]


class AnnounceCfg(Cfg):
    """The moment at which an order becomes known: at the start, at a time, or once another was submitted.

    Attributes:
        at_s: Simulation time.
        after_order: The name of the other order; one that is complete without being submitted counts as well.
    """

    at_s: Annotated[float, Field(ge=0, le=LONGEST_S)] | None = None
    after_order: Name | None = None

    @model_validator(mode="after")
    def _one_moment(self) -> Self:
        if self.at_s is not None and self.after_order is not None:
            raise ValueError("give at_s or after_order, not both")
        return self


def _announcement(value: Any) -> Any:
    """Reads the word `start`."""
    if isinstance(value, str):
        if value != "start":
            raise ValueError("should be start, {at_s: SECONDS} or {after_order: NAME}")
        return {}
    return value


class TrialOrderCfg(Cfg):
    """One order of a trial.

    Attributes:
        order: A kit's name, or an order file, relative to the trial's.
        name: What it is submitted by; the order's own name when not given.
        quantity: How many, of an order by name.
        tray: The kit tray to build it on, by its name in the cell; any free one of the right kind when not given.
        announce: `start`, `{at_s: SECONDS}` or `{after_order: NAME}`.
        priority: The higher, the more urgent; told to the controller.
    """

    order: Annotated[str, Field(min_length=1)]
    name: Name | None = None
    quantity: Annotated[int, Field(ge=1, le=100, strict=True)] = 1
    tray: str | None = None
    announce: Annotated[AnnounceCfg, BeforeValidator(_announcement)] = AnnounceCfg()
    priority: Annotated[int, Field(ge=0, le=100, strict=True)] = 0


class TrialCfg(Cfg):
    """A trial file.

    Attributes:
        trial: Its name.
        cell: A cell's name, or a cell file, relative to the trial's.
        seed: Root of all randomness.
        pace: Simulated seconds per second of real time, for controllers outside; those inside run at full speed.
        time_limit_s: Simulated time after which it ends, whatever is done.
        par_s: Up to here the time has all its points; a third of the limit when not given.
        orders: What is wanted.
        faults: What goes wrong, as text or as mappings.
        points: Item of the score -> its worth, where it is not the usual.
        controller: The default controller: `external`, `internal` (Cellwright's own), or the name of another inside.
        source: The source of detections: `state`, or `camera`, which recognises objects in pictures.
        calibration: A calibration file of the cell for a controller inside, relative to the trial's; one outside reads
            such a file itself.
        connect_within_s: Real time in which a controller outside must connect; simulated time stands still till then.
        reconnect_within_s: Simulated time in which one that has disconnected must be back.
        still_s: A trial also ends when all orders have been complete for so long and nothing has moved.
        impossible: `refuse` orders that no controller could fill, or `note` that and run.
    """

    trial: Name
    cell: Annotated[str, Field(min_length=1)] = "aprs"
    seed: Annotated[int, Field(ge=0, strict=True)] = 0
    pace: Annotated[float, Field(ge=0.01, le=100)] = 1.0
    time_limit_s: Seconds = 300.0
    par_s: Seconds | None = None
    orders: Annotated[list[TrialOrderCfg], Field(min_length=1, max_length=100)]
    faults: list[AnyFault] = Field(default_factory=list)
    points: dict[str, Worth] = Field(default_factory=dict)
    controller: str = EXTERNAL
    source: Literal["state", "camera"] = "state"
    calibration: Annotated[str, Field(min_length=1)] | None = None
    connect_within_s: Seconds = 60.0
    reconnect_within_s: Seconds = 10.0
    still_s: Seconds = 5.0
    impossible: Literal["refuse", "note"] = "refuse"

    _file: Path | None = PrivateAttr(default=None)

    @model_validator(mode="before")
    @classmethod
    def _with_plugins(cls, data: Any) -> Any:
        """Imports the cell's plugins, which may register what it names; mistakes of the cell are told with its own."""
        if not isinstance(data, dict) or not isinstance(cell := data.get("cell"), str):
            return data
        faults, controller = data.get("faults"), data.get("controller", EXTERNAL)
        of_others = isinstance(faults, list) and any(fault_kind(one) not in FAULTS for one in faults)
        if of_others or controller not in controller_names():
            with suppress(BadInput):
                load_cell(cell)
        return data

    @field_validator("par_s")
    @classmethod
    def _below_the_limit(cls, par_s: float | None, info: ValidationInfo) -> float | None:
        limit_s = info.data.get("time_limit_s")
        if par_s is not None and limit_s is not None and par_s >= limit_s:
            raise ValueError(f"should be below time_limit_s ({limit_s:g})")
        return par_s

    @field_validator("points")
    @classmethod
    def _known_items(cls, points: dict[str, float]) -> dict[str, float]:
        known = [field.name for field in fields(Points)]
        if wrong := [str(UnknownName("item of the score", item, known)) for item in points if item not in known]:
            raise ValueError("; ".join(wrong))
        return points

    @field_validator("controller")
    @classmethod
    def _known_controller(cls, controller: str) -> str:
        if controller not in controller_names():
            raise ValueError(str(TRIAL_CONTROLLERS.unknown(controller, besides=(EXTERNAL,))))
        return controller

    @property
    def file(self) -> Path | None:
        """The file that the trial was read from, if any."""
        return self._file

    @property
    def where(self) -> str:
        """The name of this trial in errors: its file, or its name."""
        return f"trial {self.trial}" if self._file is None else str(self._file)


def controller_names() -> list[str]:
    """Returns the allowed values of `controller`."""
    return sorted({EXTERNAL, *TRIAL_CONTROLLERS.names()})


def read_trial(path: str | Path) -> TrialCfg:
    """Returns a trial from its file; a mistake is told with its line, its key and what is allowed."""
    return make_trial(parse_yaml(read_text(Path(path)), path), Path(path))


def make_trial(data: Any, path: Path) -> TrialCfg:
    """Returns a trial from the data of a file, or of a part of it."""
    if isinstance(data, dict) and isinstance(data.get("cell"), str):
        data = data | {"cell": _beside(path, data["cell"])}
    if isinstance(data, dict) and isinstance(data.get("calibration"), str):
        data = data | {"calibration": str(path.parent / data["calibration"])}
    cfg = validate(data, TrialCfg, path)
    orders = [order.model_copy(update={"order": _beside(path, order.order)}) for order in cfg.orders]
    made = cfg.model_copy(update={"orders": orders})
    made._file = path
    return made


def _beside(path: Path, text: str) -> str:
    """Returns the path of a file that is named in a trial, beside that; a name stays one, a variant (`@`) too."""
    is_file = text.partition("@")[0].endswith((".yaml", ".yml")) or "/" in text
    return str(path.parent / text) if is_file else text


def trial_json_schema() -> dict[str, Any]:
    """Returns the format of trial files as a JSON schema, for editors."""
    schema = TrialCfg.model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["properties"]["controller"]["examples"] = controller_names()
    schema["properties"]["points"]["propertyNames"] = {"enum": [field.name for field in fields(Points)]}
    schema["properties"]["faults"]["items"] = {
        "anyOf": [
            {"type": "string", "pattern": f"^({'|'.join(FAULTS)})(:.*)?$"},
            *({"$ref": f"#/$defs/{FAULTS.get(kind).Cfg.__name__}"} for kind in FAULTS),
        ]
    }
    for kind in FAULTS:
        made = FAULTS.get(kind).Cfg.model_json_schema(ref_template="#/$defs/{model}")
        made["properties"]["kind"] |= {"const": kind, "default": kind}
        schema["$defs"] |= made.pop("$defs", {})
        schema["$defs"][FAULTS.get(kind).Cfg.__name__] = made
    schema["$defs"]["TrialOrderCfg"]["properties"]["order"]["examples"] = DESIGNS.names()
    announce = schema["$defs"]["TrialOrderCfg"]["properties"]["announce"]
    announce["anyOf"] = [{"const": "start"}, {"$ref": announce.pop("$ref", "#/$defs/AnnounceCfg")}]
    announce["default"] = "start"
    return schema
