"""Correct what a detector reports by a calibration file, in a controller of your own: YAML and NumPy, nothing else.

Shows:

- what `cellwright calibrate CELL --robot fanuc --out fanuc.yaml` writes, as far as it is needed here
- how rows of a frame of the vision socket (class, x, y) are corrected by it: rigid first, then the offsets of Eqn (1)
"""

import tempfile
from pathlib import Path

import numpy as np
import yaml

FILE = """
format: cellwright-calibration
detectors:
  detector_fanuc:
    rigid: {xyz_m: [0.0061, -0.0042, 0.0], rpy_deg: [0.0, 0.0, 0.2]}
    scale: 1.001
    points:
    - {at_m: [0.0, -0.9], offset_m: [0.0003, -0.0002, 0.0]}
    - {at_m: [0.47, -1.38], offset_m: [-0.0001, 0.0004, 0.0]}
    - {at_m: [0.0, -1.42], offset_m: [-0.0002, -0.0001, 0.0]}
    - {at_m: [0.48, -0.93], offset_m: [0.0, -0.0001, 0.0]}
end: cellwright-calibration
"""


def rotation(rpy_deg):
    """Returns the matrix of roll, pitch and yaw about fixed axes."""
    (cr, cp, cy), (sr, sp, sy) = np.cos(np.radians(rpy_deg)), np.sin(np.radians(rpy_deg))
    about_x = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    about_y = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
    about_z = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
    return about_z @ about_y @ about_x


def corrected(detector, position_m):
    """Returns where something is that the detector reports there: rigid first, then the offsets of Eqn (1)."""
    rigid = detector["rigid"]
    q = rotation(rigid["rpy_deg"]) @ (detector["scale"] * np.asarray(position_m)) + rigid["xyz_m"]
    if not detector["points"]:
        return q
    away = np.array([np.linalg.norm(q[:2] - point["at_m"]) for point in detector["points"]])
    weights = np.array([np.prod(np.delete(away, k)) for k in range(len(away))])  # exact at the points themselves
    return q + weights @ np.array([point["offset_m"] for point in detector["points"]]) / weights.sum()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "fanuc.yaml"
        file.write_text(FILE)
        calibration = yaml.safe_load(file.read_text())
    assert calibration.get("end") == "cellwright-calibration", "the file was cut off"
    for sku, x_m, y_m in (("sku_part_large_gear", 0.161, -1.205), ("sku_part_medium_gear", 0.1195, -0.9595)):
        x, y, _ = corrected(calibration["detectors"]["detector_fanuc"], [x_m, y_m, 0.92])
        print(f"{sku}: reported at {x_m:.4f}, {y_m:.4f} m, is at {x:.4f}, {y:.4f} m")
