"""Configuration: pydantic models read from YAML, whose errors name the file, the path inside it and what fits."""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, ValidationError, model_validator
from pydantic_core import ErrorDetails, PydanticCustomError

from cellwright.core.errors import ConfigError, ConfigErrors, UnknownName
from cellwright.core.files import read_text
from cellwright.core.key_docs import describe_keys
from cellwright.core.yaml_text import parse_yaml

__all__ = ["Cfg", "Normal", "Number", "Uniform", "draw", "parse_yaml", "read_yaml", "validate"]

M = TypeVar("M", bound=BaseModel)

_known_keys: ContextVar[dict[int, dict[str, None]] | None] = ContextVar("known_keys", default=None)
MOST_REPORTED = 50  # errors
UNKNOWN = ("extra_forbidden", "invalid_key")  # pydantic's error types for a key that it does not know


class Cfg(BaseModel):
    """Base of every configuration class: unknown keys are errors, values cannot be changed afterwards."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, json_schema_extra=describe_keys)

    @model_validator(mode="before")
    @classmethod
    def _note_known_keys(cls, data: Any) -> Any:
        """Notes which keys a mapping may have: pydantic refuses an unknown key, but does not list those it knows."""
        if not isinstance(data, dict) or cls.model_config.get("extra") != "forbid":
            return data
        known = [key for name, field in cls.model_fields.items() for key in (field.alias, name) if key]
        noted = _known_keys.get()
        if noted is not None:
            noted.setdefault(id(data), {}).update(dict.fromkeys(known))
            return data
        for key in data:  # made in Python, where no error is collected
            if key not in known:
                problem = str(UnknownName("key", str(key), dict.fromkeys(known)))
                raise PydanticCustomError("unknown_key", "{problem}", {"problem": problem})
        return data


class Uniform(Cfg):
    """A number drawn evenly between two bounds.

    Attributes:
        distribution: May be left out.
        low: The lower bound.
        high: The upper bound.
    """

    distribution: Literal["uniform"] = "uniform"
    low: float
    high: float

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        if self.low > self.high:
            raise ValueError(f"low ({self.low:g}) must not be above high ({self.high:g})")
        return self

    def draw(self, rng: np.random.Generator) -> float:
        """Returns one value."""
        return float(rng.uniform(self.low, self.high))


class Normal(Cfg):
    """A number drawn from a normal distribution.

    Attributes:
        distribution: May be left out.
        mean: Its mean.
        sd: Its standard deviation.
    """

    distribution: Literal["normal"] = "normal"
    mean: float = 0.0
    sd: Annotated[float, Field(ge=0)]

    def draw(self, rng: np.random.Generator) -> float:
        """Returns one value."""
        return float(rng.normal(self.mean, self.sd))


def _kind_of_number(value: Any) -> str | None:
    """Returns the form that is meant, so that an error concerns that one only."""
    if isinstance(value, dict):
        if "distribution" not in value:
            return "uniform" if {"low", "high"} & set(value) else "normal" if {"mean", "sd"} & set(value) else None
        return str(value["distribution"])
    if isinstance(value, Uniform | Normal):
        return value.distribution
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return None if isinstance(value, bool) else "number"


Number = Annotated[
    Annotated[float, Tag("number")] | Annotated[Uniform, Tag("uniform")] | Annotated[Normal, Tag("normal")],
    Discriminator(
        _kind_of_number,
        custom_error_type="number",
        custom_error_message="should be a number, {distribution: uniform, low: .., high: ..} "
        "or {distribution: normal, mean: .., sd: ..}",
    ),
]
"""A value, or a distribution to draw it from."""


def draw(number: Number, rng: np.random.Generator) -> float:
    """Returns the value itself, or one drawn from its distribution."""
    return float(number) if isinstance(number, int | float) else number.draw(rng)


def read_yaml(path: Path, model: type[M]) -> M:
    """Reads and validates a configuration file."""
    return validate(parse_yaml(read_text(path), path), model, path)


def validate(data: Any, model: type[M], where: str | Path) -> M:
    """Checks plain data against a model; reports every problem, one line each."""
    token = _known_keys.set({})
    try:
        return model.model_validate(data)
    except ValidationError as error:
        errors = [ConfigError(where, path, problem) for path, problem in _describe(error, data)]
    finally:
        _known_keys.reset(token)
    raise (errors[0] if len(errors) == 1 else ConfigErrors(errors)) from None


_EXPECTED = {
    "missing": "required, but missing",
    "model_type": "should be a mapping",
    "dict_type": "should be a mapping",
    "list_type": "should be a list",
    "tuple_type": "should be a list",
    "float_type": "should be a number",
    "float_parsing": "should be a number",
    "int_type": "should be a whole number",
    "int_parsing": "should be a whole number",
    "int_from_float": "should be a whole number",
    "string_type": "should be text",
    "bool_type": "should be true or false",
    "bool_parsing": "should be true or false",
}

_LIMITS = {
    "too_short": "should have {min_length} or more entries",
    "too_long": "should have at most {max_length} entries",
    "string_too_short": "should be text of {min_length} or more characters",
    "string_too_long": "should be text of at most {max_length} characters",
    "string_pattern_mismatch": "should be text of the form {pattern}",
}


def _describe(error: ValidationError, data: Any) -> list[tuple[str, str]]:
    """Returns the path and the problem of every error, in the order of the file."""
    found: dict[tuple[str, ...], list[ErrorDetails]] = {}
    for problem in _meant(error.errors(include_url=False), data):
        if problem["type"] in UNKNOWN:
            problem["ctx"] = {"known": (_known_keys.get() or {}).get(id(_holder(problem["loc"], data)), {})}
        found.setdefault(_path(problem["loc"], data, problem["type"]), []).append(problem)
    # In a union every member complains; the deeper path belongs to the member that was meant.
    deepest = [at for at in found if not any(len(at) < len(other) and at == other[: len(at)] for other in found)]
    errors = [(".".join(at), _problem(found[at])) for at in sorted(deepest, key=lambda at: _order(at, data))]
    errors = [(path.rpartition(".")[0] if text.startswith("unknown key ") else path, text) for path, text in errors]
    return errors[:MOST_REPORTED]


def _meant(problems: list[ErrorDetails], data: Any) -> list[ErrorDetails]:
    """Returns the problems without those of union members that were not meant: every member reports its own.

    Meant is the member that was understood deepest, then the one with the fewest problems; all where that is a draw.
    """
    unions: dict[tuple[str, ...], dict[str, list[ErrorDetails]]] = {}
    kept = []
    for problem in problems:
        place, member = _member(problem["loc"], data, problem["type"])
        if member:
            unions.setdefault(place, {}).setdefault(member, []).append(problem)
        else:
            kept.append(problem)
    for members in unions.values():
        worth = {
            member: (max(len(_path(own["loc"], data, own["type"])) for own in found), -len(found))
            for member, found in members.items()
        }
        best = max(worth.values())
        kept += [problem for member, found in members.items() if worth[member] == best for problem in found]
    return kept


def _member(loc: Sequence[int | str], data: Any, kind: str) -> tuple[tuple[str, ...], str]:
    """Returns the first union on a path, and the name of its member there; an empty name without one."""
    path: list[str] = []
    for index, step in enumerate(loc):
        try:
            data = data[step]
            path.append(str(step))
        except (KeyError, IndexError, TypeError):
            last = index == len(loc) - 1 and kind == "missing"
            return tuple(path), "" if last or step == "[key]" else str(step)
    return tuple(path), ""


def _holder(loc: Sequence[int | str], data: Any) -> Any:
    """Returns the mapping that contains a key, along a path with or without the names of union members."""
    for step in loc[:-1]:
        try:
            data = data[step]
        except (KeyError, IndexError, TypeError):
            continue
    return data


def _problem(problems: list[ErrorDetails]) -> str:
    """Returns the problem in one place: all that the members of a union would accept."""
    unknown = [problem for problem in problems if problem["type"] in UNKNOWN]
    texts = [_text(problem) for problem in problems if not unknown or problem in unknown]
    wanted = " or ".join(dict.fromkeys(text.removeprefix("should be ") for text in texts))
    text = ("should be " if texts[0].startswith("should be ") else "") + wanted
    return f"{text}, got {_shown(problems[0]['input'])}" if text.startswith("should ") else text


def _order(path: tuple[str, ...], data: Any) -> tuple[int, ...]:
    """Returns the position of a path in the data: the index of each of its keys among their siblings."""
    places: list[int] = []
    for step in path:
        if isinstance(data, dict):
            keys = [str(key) for key in data]
            places.append(keys.index(step) if step in keys else len(keys))
            data = next((value for key, value in data.items() if str(key) == step), None)
        elif isinstance(data, list) and step.isdecimal() and int(step) < len(data):
            places.append(int(step))
            data = data[int(step)]
        else:
            break
    return tuple(places)


def _text(problem: ErrorDetails) -> str:
    kind, ctx = problem["type"], problem.get("ctx", {})
    if kind in UNKNOWN:
        return str(UnknownName("key", str(problem["loc"][-1]), ctx.get("known", ())))
    if kind == "union_tag_not_found":
        return f"{ctx['discriminator']} is required, but missing"
    if kind == "union_tag_invalid":
        return f"{ctx['discriminator']} should be one of {ctx['expected_tags']}, got {_shown(ctx['tag'])}"
    if kind in _LIMITS:
        return _LIMITS[kind].format(**ctx)
    return _EXPECTED.get(kind) or problem["msg"].removeprefix("Input ").removeprefix("Value error, ")


def _path(loc: Sequence[int | str], data: Any, kind: str) -> tuple[str, ...]:
    """Returns keys and indices that occur in the data, without the names that pydantic gives to members of unions."""
    path: list[str] = []
    for index, step in enumerate(loc):
        try:
            data, inside = data[step], isinstance(data, dict | list)
        except (KeyError, IndexError, TypeError):
            inside = False
        if inside or (kind == "missing" and index == len(loc) - 1):
            path.append(str(step))
    return tuple(path)


def _shown(value: Any) -> str:
    """Returns a short, readable form of a value."""
    if value is None:
        return "nothing"
    return "a mapping" if isinstance(value, dict) else "a list" if isinstance(value, list) else repr(str(value)[:60])
