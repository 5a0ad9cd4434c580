"""Configuration: pydantic models read from YAML, whose errors name the file, the path inside it and what fits."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, ValidationError, model_validator
from pydantic_core import ErrorDetails, PydanticCustomError

from cellwright.core.errors import BadInput, ConfigError, UnknownName
from cellwright.core.yaml_text import MAX_CHARACTERS, parse_yaml

__all__ = ["Cfg", "Normal", "Number", "Uniform", "draw", "parse_yaml", "read_yaml", "validate"]

M = TypeVar("M", bound=BaseModel)


class Cfg(BaseModel):
    """Base of every configuration class: unknown keys are errors, values cannot be changed afterwards."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown_keys(cls, data: Any) -> Any:
        if isinstance(data, dict) and cls.model_config.get("extra") == "forbid":
            known = [key for name, field in cls.model_fields.items() for key in (field.alias, name) if key]
            for key in data:
                if key not in known:
                    problem = str(UnknownName("key", str(key), dict.fromkeys(known)))
                    raise PydanticCustomError("unknown_key", "{problem}", {"problem": problem})
        return data


class Uniform(Cfg):
    """A number drawn evenly between two bounds."""

    distribution: Literal["uniform"] = "uniform"
    low: float
    high: float

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        if self.low > self.high:
            raise ValueError(f"low ({self.low:g}) must not be above high ({self.high:g})")
        return self

    def draw(self, rng: np.random.Generator) -> float:
        """One value."""
        return float(rng.uniform(self.low, self.high))


class Normal(Cfg):
    """A number drawn from a normal distribution."""

    distribution: Literal["normal"] = "normal"
    mean: float = 0.0
    sd: Annotated[float, Field(ge=0)]

    def draw(self, rng: np.random.Generator) -> float:
        """One value."""
        return float(rng.normal(self.mean, self.sd))


def _kind_of_number(value: Any) -> str | None:
    """Which form is meant, so that an error speaks about that one only."""
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
    """The value itself, or one drawn from its distribution."""
    return float(number) if isinstance(number, int | float) else number.draw(rng)


def read_yaml(path: Path, model: type[M]) -> M:
    """Reads and validates a configuration file."""
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(MAX_CHARACTERS + 1)
    except (OSError, ValueError) as error:  # ValueError: not UTF-8, or a path with a null character
        reason = getattr(error, "strerror", None) or "not a UTF-8 text file"
        raise BadInput(f"cannot read {path}: {reason}") from None
    return validate(parse_yaml(text, path), model, path)


def validate(data: Any, model: type[M], where: str | Path) -> M:
    """Checks plain data against a model; the first problem is reported as one line."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise ConfigError(where, *_describe(error, data)) from None


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


def _describe(error: ValidationError, data: Any) -> tuple[str, str]:
    """Path and problem of the most telling error, with the count of the others."""
    found = [(_path(p["loc"], data, p["type"]), p) for p in error.errors(include_url=False)]
    # In a union every member complains; the deepest path belongs to the member that was meant.
    path, first = max(found, key=lambda item: len(item[0]))
    texts = [_text(p) for at, p in found if at == path]
    wanted = " or ".join(dict.fromkeys(text.removeprefix("should be ") for text in texts))
    text = ("should be " if texts[0].startswith("should be ") else "") + wanted
    if text.startswith("should "):
        text += f", got {_shown(first['input'])}"
    others = {at for at, _ in found if at != path[: len(at)]}
    return ".".join(path), text + (f" (and {len(others)} more)" if others else "")


def _text(problem: ErrorDetails) -> str:
    kind, ctx = problem["type"], problem.get("ctx", {})
    if kind == "union_tag_not_found":
        return f"{ctx['discriminator']} is required, but missing"
    if kind == "union_tag_invalid":
        return f"{ctx['discriminator']} should be one of {ctx['expected_tags']}, got {_shown(ctx['tag'])}"
    if kind in _LIMITS:
        return _LIMITS[kind].format(**ctx)
    return _EXPECTED.get(kind) or problem["msg"].removeprefix("Input ").removeprefix("Value error, ")


def _path(loc: Sequence[int | str], data: Any, kind: str) -> tuple[str, ...]:
    """The keys and indices that occur in the data, without the names that pydantic gives to members of unions."""
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
    """A value as a person would name it, short."""
    if value is None:
        return "nothing"
    return "a mapping" if isinstance(value, dict) else "a list" if isinstance(value, list) else repr(str(value)[:60])
