"""The workstation's units in exchanged files, converted without losing a bit: what is read is what was written.

Decimal numbers do it: a length of 0.1 m is 100 mm and 0.1 m again, which floating-point numbers do not promise.
"""

from __future__ import annotations

from decimal import Context, Decimal, InvalidOperation

__all__ = ["SI", "WorkstationUnits"]

SI = {"length": "meter", "angle": "radian", "weight": "kilogram"}
FACTORS = {  # unit -> what one of it is in SI
    "meter": "1",
    "millimeter": "0.001",
    "inch": "0.0254",
    "radian": "1",
    "degree": "0.01745329251994329576923690768488612713442871888541725",
    "kilogram": "1",
    "gram": "0.001",
    "milligram": "0.000001",
    "ounce": "0.028349523125",
    "pound": "0.45359237",
}
EXACT = Context(prec=40)
SHORT = Context(prec=25)


class WorkstationUnits:
    """Converts by the units that a workstation names; those that it does not name are SI."""

    def __init__(self, length: str | None, angle: str | None, weight: str | None) -> None:
        self._names = {"length": length, "angle": angle, "weight": weight}

    def text(self, value: float, quantity: str) -> str:
        """Returns a stored number as a file has it."""
        factor = self._factor(quantity)
        if factor == 1:
            return repr(float(value))
        shown = _plain(SHORT.divide(Decimal(repr(float(value))), factor))
        if self.number(shown, quantity) == value:
            return shown
        return _plain(EXACT.divide(Decimal(float(value)), factor))  # the short form of some numbers lies between two

    def number(self, text: str, quantity: str) -> float:
        """Returns a number of a file as it is stored.

        Raises:
            ValueError: It is not a number.
        """
        try:
            return float(EXACT.multiply(EXACT.create_decimal(text.strip()), self._factor(quantity)))
        except (InvalidOperation, ValueError):
            raise ValueError(f"is '{text.strip()}', it should be a number") from None

    def _factor(self, quantity: str) -> Decimal:
        if not quantity:
            return Decimal(1)
        unit = self._names[quantity.removesuffix("2")] or SI[quantity.removesuffix("2")]
        factor = Decimal(FACTORS[unit])
        return EXACT.multiply(factor, factor) if quantity.endswith("2") else factor


def _plain(number: Decimal) -> str:
    """Returns a number without trailing zeros, and without an exponent where it is of a usual size."""
    shown = number.normalize(EXACT)
    return format(shown, "f") if 1e-6 < abs(shown) < 1e9 else str(shown)
