"""Recognition from above: what is seen, what is not invented, what bad pictures give."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cellwright.catalogue import PARTS, TRAYS, GearFigures
from cellwright.cells import load_cell
from cellwright.core.pose import Pose
from cellwright.drawings import Drawings
from cellwright.drawings.recognition import recognition_model
from cellwright.perception.picture import Picture
from cellwright.perception.support import Surface

pytest.importorskip("cv2", reason="the extra vision is not installed")
from cellwright.perception.recognition import OverheadRecogniser, Recognised, RecognitionModel


@pytest.fixture(scope="module")
def recogniser() -> OverheadRecogniser:
    return OverheadRecogniser(recognition_model(Drawings.of(load_cell("aprs"))))


def picture(pixels: np.ndarray, **changed: object) -> Picture:
    size = pixels.shape[1], pixels.shape[0]
    focal = 2302.29 * size[0] / 2048
    usual = Picture(
        source="camera_fanuc",
        time_s=1.5,
        pixels=pixels,
        matrix=np.array([[focal, 0, size[0] / 2], [0, focal, size[1] / 2], [0, 0, 1]]),
        distortion=np.zeros(5),
        pose_camera_in_world=Pose(np.array([0.359, -1.157, 1.963]), np.array([0.0, 1.0, 0.0, 0.0])),
        size_px=size,
    )
    return replace(usual, **changed)


@pytest.mark.parametrize(
    ("pixels", "word"),
    [
        (np.zeros((256, 256, 3), np.uint8), "black"),
        (np.full((256, 256, 3), 255, np.uint8), "saturated"),
        (np.zeros((0, 0, 3), np.uint8), "empty"),
        (np.zeros((256, 256), np.uint8), "shape"),
        (np.full((64, 64, 3), 128, np.uint8), "too small"),
    ],
)
def test_a_picture_that_cannot_be_used_gives_nothing_and_a_reason(
    recogniser: OverheadRecogniser, pixels: np.ndarray, word: str
) -> None:
    found = recogniser.recognise(picture(pixels, matrix=np.diag([70.0, 70.0, 1.0]), size_px=None))
    assert len(found) == 0
    assert word in found.faults[0]


@pytest.mark.parametrize(
    ("changed", "word"),
    [
        ({"pixels": np.full((1024, 1024, 3), np.nan)}, "float64"),
        ({"pixels": np.full((1024, 1024, 3), 128, np.uint16)}, "uint16"),
        ({"pixels": np.full((3, 1024, 3), 128, np.uint8), "size_px": (1024, 3)}, "cut off"),
        ({"pixels": np.full((500, 1024, 3), 128, np.uint8), "size_px": (1024, 1024)}, "1024 x 500"),
        ({"matrix": np.zeros((3, 3))}, "focal"),
        ({"matrix": np.full((3, 3), np.nan)}, "not numbers"),
        ({"matrix": np.eye(2)}, "3 x 3"),
        ({"pose_camera_in_world": Pose.from_xyz_rpy([9.0, 9.0, 2.0], [np.pi, 0, 0])}, "not in the picture"),
        ({"pose_camera_in_world": Pose.from_xyz_rpy([0.3, -1.1, 2.0])}, "180 degrees off straight down"),
        ({"pose_camera_in_world": Pose.from_xyz_rpy([0.3, -1.1, 0.5], [np.pi, 0, 0])}, "not from above"),
    ],
    ids=["nan", "16 bits", "a strip", "cut off", "no lens", "nan lens", "half a lens", "elsewhere", "up", "below"],
)
@pytest.mark.filterwarnings("error")
def test_what_a_camera_tells_wrongly_is_named(
    recogniser: OverheadRecogniser, changed: dict[str, object], word: str
) -> None:
    found = recogniser.recognise(replace(picture(np.full((1024, 1024, 3), 128, np.uint8)), **changed))
    assert len(found) == 0
    assert word in found.faults[0]


def test_noise_alone_is_no_object(recogniser: OverheadRecogniser) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (1024, 1024, 3)).astype(np.uint8)
    found = recogniser.recognise(picture(noise))
    assert len(found) == 0
    assert found.detections(3).sequence == 3


# ----- pictures drawn here, of nothing but the drawings -----

SIZE, FOCAL, EYE = 1024, 1151.14, np.array([0.30, -1.15, 1.963])
TABLE_M = 0.916
COLOURS = {"table": (150, 150, 156), "tray": (185, 183, 174), "rim": (95, 94, 90), "gear": (25, 120, 65)}


def drawn_picture(
    gears: dict[str, tuple[float, float]],
    trays: dict[str, tuple[float, float, float]],
    noise: float = 0.01,
    turn_rad: float = 0.0,
    distortion: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0, 0.0),
) -> Picture:
    """Draws discs and plates by the catalogue as a camera above the cart would see them, without any renderer."""
    import cv2

    from cellwright.perception.recognition.lens import CalibratedLens

    c, s = np.cos(turn_rad / 2), np.sin(turn_rad / 2)
    blank = np.full((SIZE, SIZE, 3), COLOURS["table"], np.uint8)
    taken = picture(
        blank,
        matrix=np.array([[FOCAL, 0, SIZE / 2], [0, FOCAL, SIZE / 2], [0, 0, 1]]),
        distortion=np.array(distortion),
        pose_camera_in_world=Pose(EYE, np.array([0.0, c, s, 0.0])),
    )
    lens = CalibratedLens(taken)

    def fill(outline_m: np.ndarray, height_m: float, colour: str) -> None:
        points = np.column_stack([outline_m, np.full(len(outline_m), TABLE_M + height_m)])
        corners = np.round((lens.pixels(points) - 0.5) * 16).astype(np.int32)
        cv2.fillPoly(blank, [corners], COLOURS[colour], cv2.LINE_AA, 4)

    def ring(xy_m: np.ndarray, radius_m: float) -> np.ndarray:
        angles = np.linspace(0, 2 * np.pi, 120, endpoint=False)
        return xy_m + radius_m * np.column_stack([np.cos(angles), np.sin(angles)])

    for model, (x, y, yaw) in trays.items():
        tray = TRAYS.get(model)
        turn = np.array([[np.cos(yaw), np.sin(yaw)], [-np.sin(yaw), np.cos(yaw)]])
        half = np.array(tray.size_m) / 2
        corners = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]]) * half @ turn + [x, y]
        fill(corners, tray.foot_height_m, "tray")
        fill(corners, tray.thickness_m, "tray")
        for slot in tray.slots:
            centre = np.array(slot.xy_m) @ turn + [x, y]
            fill(ring(centre, slot.top_radius_m), tray.thickness_m, "rim")
            fill(ring(centre, slot.bottom_radius_m), slot.floor_m, "tray")
    for name, (x, y) in gears.items():
        gear = PARTS.get(name.partition(":")[0])
        radius_m = (gear.root_radius_m + gear.tip_radius_m) / 2
        for height_m in (gear.cone_height_m, gear.disc_top_m):
            fill(ring(np.array([x, y]), radius_m), height_m, "gear")
    field = np.random.default_rng(1).normal(0, 255 * noise, blank.shape)
    return replace(taken, pixels=np.clip(np.round(blank + field), 0, 255).astype(np.uint8))


GEARS = {"small_gear": (0.12, -1.00), "medium_gear": (0.10, -1.20), "large_gear": (0.12, -1.36)}
BOARDS = {"kit_m2l1_tray": (0.42, -1.00, 0.4), "small_gear_tray": (0.33, -1.30, 0.2)}


def found_at(found: Recognised, sku: str) -> np.ndarray:
    (row,) = [row for row, name in enumerate(found.skus) if name == sku]
    return found.positions[row, :2]


@pytest.mark.parametrize("noise", [0.007, 0.3])
def test_gears_of_one_colour_are_told_apart_by_their_size(recogniser: OverheadRecogniser, noise: float) -> None:
    found = recogniser.recognise(drawn_picture(GEARS, {}, noise))
    assert sorted(found.skus) == sorted(PARTS.get(name).sku for name in GEARS)
    for name, place in GEARS.items():
        assert np.hypot(*(found_at(found, PARTS.get(name).sku) - place)) < (0.0006 if noise < 0.1 else 0.0015)
    assert np.isinf(found.variances[:, 2:]).all()
    assert np.isfinite(found.variances[:, :2]).all()


@pytest.mark.parametrize("noise", [0.007, 0.15])  # of half the pixels: as 0.3 of all
def test_empty_trays_are_recognised_by_their_slots(recogniser: OverheadRecogniser, noise: float) -> None:
    found = recogniser.recognise(drawn_picture({}, BOARDS, noise))
    assert sorted(found.skus) == sorted(TRAYS.get(name).sku for name in BOARDS)
    for name, (x, y, yaw) in BOARDS.items():
        assert np.hypot(*(found_at(found, TRAYS.get(name).sku) - [x, y])) < 0.0015
        row = found.skus.index(TRAYS.get(name).sku)
        turn = 2 * np.arctan2(found.quaternions[row, 3], found.quaternions[row, 0])
        assert abs(turn - yaw) < np.radians(0.7)


@pytest.mark.parametrize("turn_rad", [0.5, np.pi / 2, -2.0])
def test_a_turned_camera_sees_the_same_places(recogniser: OverheadRecogniser, turn_rad: float) -> None:
    found = recogniser.recognise(drawn_picture(GEARS, BOARDS, turn_rad=turn_rad))
    assert len(found) == len(GEARS) + len(BOARDS)
    for name, place in GEARS.items():
        assert np.hypot(*(found_at(found, PARTS.get(name).sku) - place)) < 0.0008


def test_the_lens_is_taken_into_account(recogniser: OverheadRecogniser) -> None:
    taken = drawn_picture(GEARS, {}, distortion=(-0.12, 0.02, 0.001, -0.001, 0.0))
    for name, place in GEARS.items():
        assert np.hypot(*(found_at(recogniser.recognise(taken), PARTS.get(name).sku) - place)) < 0.0008
    perfect = recogniser.recognise(replace(taken, distortion=np.zeros(5)))
    off = [np.hypot(*(found_at(perfect, PARTS.get(name).sku) - place)) for name, place in GEARS.items()]
    assert max(off) > 0.001


@pytest.mark.parametrize(
    ("error", "expected_mm"),
    [
        (Pose.from_xyz_rpy([0.003, 0, 0]), (3.0, 0.3)),
        (Pose.from_xyz_rpy([0, 0, 0], [np.radians(0.5), 0, 0]), (9.2, 1.5)),
    ],
    ids=["3 mm sideways", "tilt of half a degree"],
)
def test_wrong_extrinsics_shift_what_is_seen_as_geometry_says(
    recogniser: OverheadRecogniser, error: Pose, expected_mm: tuple[float, float]
) -> None:
    taken = drawn_picture(GEARS, {})
    wrong = replace(taken, pose_camera_in_world=taken.pose_camera_in_world @ error)
    found = recogniser.recognise(wrong)
    off = [1000 * np.hypot(*(found_at(found, PARTS.get(name).sku) - place)) for name, place in GEARS.items()]
    assert np.median(off) == pytest.approx(expected_mm[0], abs=expected_mm[1])


def test_a_camera_that_looks_from_the_side_is_refused_with_the_reason(recogniser: OverheadRecogniser) -> None:
    one = picture(np.full((2048, 2048, 3), 120, np.uint8))
    slanted = Pose(one.pose_camera_in_world.position, (one.pose_camera_in_world @ _rolled(0.7)).quaternion)
    found = recogniser.recognise(replace(one, pose_camera_in_world=slanted))
    assert not found.skus
    assert "looks 40 degrees off straight down" in found.faults[0]
    level = Pose(one.pose_camera_in_world.position, (one.pose_camera_in_world @ _rolled(0.3)).quaternion)
    assert "straight down" not in "".join(recogniser.recognise(replace(one, pose_camera_in_world=level)).faults)


def _rolled(angle_rad: float) -> Pose:
    return Pose.from_xyz_rpy([0, 0, 0], [angle_rad, 0, 0])


def test_a_mirrored_picture_has_no_kit(recogniser: OverheadRecogniser) -> None:
    """The slots of a plate with three different corners do not fit its mirror image."""
    tray = {"kit_m2l1_tray": (0.33, -1.15, 0.0)}
    assert len(recogniser.recognise(drawn_picture({}, tray))) == 1
    gears = {"small_gear:1": (0.2, -1.1), "small_gear:2": (0.256, -1.1), "medium_gear": (0.4, -1.2)}
    assert not any("vessel" in sku for sku in recogniser.recognise(drawn_picture(gears, {})).skus)


def test_what_is_mostly_hidden_is_not_reported(recogniser: OverheadRecogniser) -> None:
    taken = drawn_picture(GEARS, {})
    whole = recogniser.recognise(taken)
    pixels = taken.pixels.copy()
    row = whole.skus.index(PARTS.get("large_gear").sku)
    low, high = whole.outlines_px[row].min(axis=0).astype(int), whole.outlines_px[row].max(axis=0).astype(int)
    pixels[low[1] - 5 : high[1] + 5, low[0] - 5 : (low[0] + 3 * high[0]) // 4] = 40
    assert PARTS.get("large_gear").sku not in recogniser.recognise(replace(taken, pixels=pixels)).skus


def test_coloured_paint_that_is_no_disc_is_no_gear(recogniser: OverheadRecogniser) -> None:
    taken = drawn_picture({}, {})
    pixels = taken.pixels.copy()
    pixels[300:340, :] = (230, 160, 20)  # a line on the floor, as wide as a small gear
    pixels[600:700, 200:300] = (230, 160, 20)
    assert len(recogniser.recognise(replace(taken, pixels=pixels))) == 0


def _painted(taken: Picture, outline_m: np.ndarray, height_m: float, colour: tuple[int, int, int]) -> Picture:
    """Returns the picture with one more polygon at a height above the table."""
    import cv2

    from cellwright.perception.recognition.lens import CalibratedLens

    points = np.column_stack([outline_m, np.full(len(outline_m), TABLE_M + height_m)])
    corners = np.round((CalibratedLens(taken).pixels(points) - 0.5) * 16).astype(np.int32)
    pixels = taken.pixels.copy()
    cv2.fillPoly(pixels, [corners], colour, cv2.LINE_AA, 4)
    return replace(taken, pixels=pixels)


def _toothed(gear: GearFigures, xy_m: tuple[float, float]) -> np.ndarray:
    teeth = round(800 * gear.tip_radius_m)
    angles = np.linspace(0, 2 * np.pi, 20 * teeth, endpoint=False)
    radii = np.where(np.cos(teeth * angles) > 0, gear.tip_radius_m, gear.root_radius_m)
    return np.array(xy_m) + radii[:, None] * np.column_stack([np.cos(angles), np.sin(angles)])


@pytest.mark.parametrize("name", ["small_gear", "medium_gear", "large_gear"])
@pytest.mark.parametrize("shadow", [(75, 75, 78), (95, 95, 99)])
def test_a_grey_gear_is_told_from_its_shadow(
    recogniser: OverheadRecogniser, name: str, shadow: tuple[int, int, int]
) -> None:
    gear, taken = PARTS.get(name), drawn_picture({}, {}, noise=0.0)
    for k in range(1, 9):  # a shadow is drawn out from below the gear
        taken = _painted(taken, _toothed(gear, (0.30 + 0.0012 * k, -1.15 + 0.0012 * k)), 0.0, shadow)
    taken = _painted(taken, _toothed(gear, (0.30, -1.15)), gear.disc_top_m, (50, 50, 52))
    found = recogniser.recognise(taken)
    assert found.skus == (gear.sku,)
    assert np.hypot(*(found.positions[0, :2] - [0.30, -1.15])) < 0.0003


def test_a_nut_is_no_gear(recogniser: OverheadRecogniser) -> None:
    gear = PARTS.get("small_gear")
    corners = np.array([(np.cos(a), np.sin(a)) for a in np.arange(6) * np.pi / 3])
    ring = np.array([(np.cos(a), np.sin(a)) for a in np.arange(60) * np.pi / 30])
    for radius_m in np.array([0.95, 1.0, 1.05]) * gear.tip_radius_m:
        nut = _painted(drawn_picture({}, {}, noise=0.0), radius_m * corners + [0.3, -1.15], 0.0, (90, 85, 60))
        assert (
            len(recogniser.recognise(_painted(nut, 0.55 * radius_m * ring + [0.3, -1.15], 0.0, (150, 150, 156)))) == 0
        )


@pytest.mark.parametrize("yaw", [0.3, 0.3 + np.pi])
def test_a_large_tray_is_not_taken_for_one_turned_by_a_half(recogniser: OverheadRecogniser, yaw: float) -> None:
    found = recogniser.recognise(drawn_picture({}, {"large_gear_tray": (0.30, -1.15, yaw)}))
    (row,) = [row for row, sku in enumerate(found.skus) if sku == TRAYS.get("large_gear_tray").sku]
    turn = 2 * np.arctan2(found.quaternions[row, 3], found.quaternions[row, 0])
    assert abs(np.angle(np.exp(1j * (turn - yaw)))) < np.radians(1.0)


def test_a_part_and_a_tray_of_other_sizes_are_recognised_by_their_figures() -> None:
    gear, tray = PARTS.get("medium_gear"), TRAYS.get("medium_gear_tray")
    own = replace(gear, sku="own_part", root_radius_m=0.0275, tip_radius_m=0.0275)
    model = RecognitionModel(parts=(own,), trays=(), surfaces=(Surface((-0.5, -1.6), (0.8, -0.8), TABLE_M),))
    drawn = drawn_picture({}, {})
    assert len(OverheadRecogniser(model).recognise(drawn)) == 0
    slots = tuple(replace(slot, top_radius_m=0.0275, bottom_radius_m=0.012) for slot in tray.slots)
    wide = replace(tray, sku="own_tray", size_m=(0.20, 0.15), slots=slots)
    if "own_tray_of_a_test" not in TRAYS:
        TRAYS.add("own_tray_of_a_test", wide)
    found = OverheadRecogniser(replace(model, trays=(wide,))).recognise(
        drawn_picture({}, {"own_tray_of_a_test": (0.3, -1.15, 0.3)})
    )
    assert found.skus == ("own_tray",)
    assert np.hypot(*(found.positions[0, :2] - [0.3, -1.15])) < 0.001


def test_nothing_of_the_simulation_is_touched(recogniser: OverheadRecogniser, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    for name, module in list(sys.modules.items()):
        if name.split(".")[:2] in (["cellwright", "sim"], ["cellwright", "sensors"], ["cellwright", "cells"]):
            monkeypatch.setitem(sys.modules, name, None)  # an import raises
            for attribute in [key for key, value in vars(module).items() if callable(value) and key[0] != "_"]:
                monkeypatch.delattr(module, attribute)
    assert len(recogniser.recognise(drawn_picture(GEARS, BOARDS))) == len(GEARS) + len(BOARDS)
