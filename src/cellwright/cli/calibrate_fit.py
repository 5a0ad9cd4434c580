"""The fit of measured pairs in a file of the laboratory: residuals, wrong pairs, the transform, a map of offsets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellwright.cli.output import prepare_output, print_json, say, table
from cellwright.core.extras import need_extra

if TYPE_CHECKING:
    from cellwright.perception.calibration import LabPairs, PairFit

__all__ = ["fit_file"]


def fit_file(path: Path, *, picture: Path | None, as_json: bool) -> None:
    """Prints what a transform leaves of the pairs of a file, and what corrects vision at its points.

    Args:
        path: A CSV of vision to robot, or of robot to robot.
        picture: The map of the compensation to draw, of vision to robot, by offsets alone as the laboratory has them.
        as_json: Whether one JSON object is printed.

    Raises:
        BadInput: The file cannot be read, or its pairs fix no transform or contradict each other.
    """
    if picture is not None:
        need_extra("drawing a map of a calibration", "plots", "matplotlib")
    from cellwright.core.errors import BadInput
    from cellwright.perception.calibration import CompensationMap, fit_pairs, read_lab_csv, register_detector

    pairs = read_lab_csv(path)
    try:
        fit = fit_pairs(pairs.from_m, pairs.to_m, pairs.names)
        registered = (
            register_detector(pairs.from_m, pairs.to_m, pairs.names, source="vision", target="robot", method="eqn1")
            if pairs.kind == "vision"
            else None
        )
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from None
    if picture is not None:
        if registered is None or registered.detector.offsets is None:
            raise BadInput(f"{path}: a map is drawn of vision to robot, and these are pairs of two robots")
        CompensationMap(registered.detector.offsets).save(prepare_output(picture))
    detector = registered.detector.model_dump(mode="json") if registered is not None else None
    if as_json:
        print_json(_report(path, pairs, fit) | {"detector": detector, "map": picture})
        return
    rows = [
        (name, *(f"{1e3 * value:.2f}" for value in (*(b - a), residual)), fit.rejected.get(name, ""))
        for name, a, b, residual in zip(fit.names, pairs.from_m, pairs.to_m, fit.residuals_m, strict=True)
    ]
    table(None, ["pair", "x [mm]", "y [mm]", "z [mm]", "left [mm]", "left out because"], rows, markup=False)
    x, y, z = (1e3 * fit.pose.position).tolist()
    say(f"transform: {x:.2f}, {y:.2f}, {z:.2f} mm, {_degrees(fit)[2]:.3f} degrees; leaves {1e3 * fit.rms_m:.2f} mm")
    if picture is not None:
        say(f"map {picture}")


def _report(path: Path, pairs: LabPairs, fit: PairFit) -> dict[str, Any]:
    return {
        "file": path,
        "kind": pairs.kind,
        "transform": {"xyz_m": fit.pose.position.tolist(), "rpy_deg": _degrees(fit)},
        "residual_mm": 1e3 * fit.rms_m,
        "pairs": [
            {"name": name, "residual_mm": 1e3 * residual, "rejected": fit.rejected.get(name, "")}
            for name, residual in zip(fit.names, fit.residuals_m, strict=True)
        ],
    }


def _degrees(fit: PairFit) -> list[float]:
    import numpy as np

    return [float(angle) for angle in np.degrees(fit.pose.rpy)]
