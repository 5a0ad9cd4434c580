"""Printed plates: a calibration board and tags, whose patterns cameras measure."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from types import MappingProxyType

from cellwright.catalogue.objects import BlockFigures

__all__ = ["CALIBRATION_BOARD", "CALIBRATION_TAGS", "CharucoFigures", "PrintedFigures", "TagFigures"]

CODES_4X4 = (0xB532, 0x0F9A, 0x332D, 0x9946, 0x549E, 0x79CD, 0x9E2E, 0xC4F2, 0xFEDA, 0xCF56, 0xF991, 0x11A7) + (
    0x0EB7, 0x2A0F, 0x24B1, 0x263E, 0x4665, 0x6600, 0x6C5E, 0x76AF, 0x868B, 0xB02B, 0xCCD5, 0xDD82
)  # fmt: skip
CODES_36H11 = (0x21A146BAB, 0x92D18FE9B, 0x7089014BB, 0x193979E27, 0x44153D3D7, 0x35CD5B8CF, 0xA10BA56A0, 0x2B874A608)
INK, PAPER = "#", "."
SQUARE = 8  # modules of a board's square: a marker of 6 with its border, and 1 of paper on each side
COLOURS = MappingProxyType({"body": (0.55, 0.56, 0.58), "paper": (0.88, 0.88, 0.87), "black": (0.03, 0.03, 0.03)})


def _marker(code: int, bits: int) -> tuple[str, ...]:
    """Returns the modules of a square marker with its border of ink, row by row; a bit of 1 is paper."""
    text = f"{code:0{bits * bits}b}".replace("1", PAPER).replace("0", INK)
    inner = [f"{INK}{text[row * bits : (row + 1) * bits]}{INK}" for row in range(bits)]
    return INK * (bits + 2), *inner, INK * (bits + 2)


@dataclass(frozen=True, kw_only=True)
class PrintedFigures(BlockFigures, ABC):
    """A stiff plate whose upper face is printed with square modules of ink and paper, its middle at the plate's.

    Attributes:
        module_m: Side of a module.
    """

    module_m: float

    @property
    @abstractmethod
    def rows(self) -> tuple[str, ...]:
        """The modules, row by row from +y to -y and from -x to +x: `#` is ink, `.` is paper."""


@dataclass(frozen=True, kw_only=True)
class CharucoFigures(PrintedFigures):
    """A chessboard with a marker in each square of paper: each of its corners is known by its neighbours.

    Attributes:
        squares: Along x and y.
        dictionary: The dictionary of the markers, numbered row by row from 0, as OpenCV names it.
    """

    squares: tuple[int, int]
    dictionary: str = "4X4_50"

    @property
    def square_m(self) -> float:
        """The side of a square."""
        return SQUARE * self.module_m

    @property
    def rows(self) -> tuple[str, ...]:
        """The modules, row by row."""
        rows, number = [], 0
        for j in range(self.squares[1]):
            lines = [""] * SQUARE
            for i in range(self.squares[0]):
                if (i + j) % 2 == 0:
                    tile = [INK * SQUARE] * SQUARE
                else:
                    inner = [f"{PAPER}{line}{PAPER}" for line in _marker(CODES_4X4[number], 4)]
                    tile, number = [PAPER * SQUARE, *inner, PAPER * SQUARE], number + 1
                lines = [line + part for line, part in zip(lines, tile, strict=True)]
            rows += lines
        return tuple(rows)


@dataclass(frozen=True, kw_only=True)
class TagFigures(PrintedFigures):
    """A single tag.

    Attributes:
        number: Of the tag in its dictionary.
        dictionary: As OpenCV names it.
    """

    number: int
    dictionary: str = "APRILTAG_36h11"

    @property
    def side_m(self) -> float:
        """The side of the tag, across its border of ink."""
        return 8 * self.module_m

    @property
    def rows(self) -> tuple[str, ...]:
        """The modules, row by row."""
        inner = [f"{PAPER}{line}{PAPER}" for line in _marker(CODES_36H11[self.number], 6)]
        return PAPER * 10, *inner, PAPER * 10


_SOURCES = MappingProxyType(
    {
        "sku": "in the manner of the APRS lab's parts",
        "mass_kg": "estimated: volume times 2700 kg/m3 of aluminium, of which half is a honeycomb",
        "grasp_feature": "estimated: nothing takes it, a person shows it or puts it down",
        "grasp_height_m": "estimated: its middle",
        "friction": "estimated: rubber feet",
        "size_m": "estimated: the pattern with a rim",
        "colours": "estimated: matt paper and ink",
        "module_m": "estimated: four pixels of the ROVI cell's cameras at its table",
        "dictionary": "published by OpenCV and by the makers of AprilTag",
    }
)
CALIBRATION_BOARD = CharucoFigures(
    name="calibration_board",
    title="Calibration board",
    sku="sku_calibration_board",
    mass_kg=1.3,
    grasp_feature="edge",
    grasp_height_m=0.0,
    friction=0.6,
    size_m=(0.384, 0.288, 0.008),
    colours=COLOURS,
    module_m=0.0058,
    squares=(8, 6),
    sources=_SOURCES | {"squares": "estimated: as many as a plate has that a person holds in two hands"},
)
"""A ChArUco board of 8 x 6 squares."""

CALIBRATION_TAGS = MappingProxyType(
    {
        number: TagFigures(
            name=f"calibration_tag_{number}",
            title=f"Calibration tag {number}",
            sku=f"sku_calibration_tag_{number}",
            mass_kg=0.047,
            grasp_feature="edge",
            grasp_height_m=0.0,
            friction=0.6,
            size_m=(0.077, 0.077, 0.006),
            colours=COLOURS,
            module_m=0.0075,
            number=number,
            sources=_SOURCES | {"number": "in order"},
        )
        for number in range(len(CODES_36H11))
    }
)
"""Number -> an AprilTag of 60 mm on a plate."""
