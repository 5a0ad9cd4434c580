"""A cell of your own: one robot, a tray of gears, a kit tray, a detector.

Shows:

- what a cell file says: the drawings, and under `actual` how far reality may be from them
- a check of the cell before a robot works in it: does everything stand, can it be reached, do the sensors behave
- a job in it
"""

import tempfile
from pathlib import Path

import cellwright as cw

CELL = """
name: bench
title: One robot on its cart
robots:
  arm:
    model: lr_mate_200id
    base: {xyz_m: [-0.169, -1.140, 0.934]}
    tool: aprs_fanuc_gripper
    home_deg: [0, 0, 0, 0, -90, 0]
fixtures:
  floor: {model: floor, pose: {xyz_m: [0, 0, 0]}}
  cart: {model: fanuc_cart, pose: {xyz_m: [0.04, -1.16, 0]}}
  camera: {model: fanuc_camera_post, pose: {xyz_m: [0.359, -1.157, 0]}}
trays:
  supply: {model: medium_gear_tray, pose: {xyz_m: [0.16, -1.00, 0.916]}}
  kit: {model: kit_m2l1_tray, pose: {xyz_m: [0.38, -1.20, 0.916], rpy_deg: [0, 0, 30]}}
populations:
  - {model: medium_gear, count: 2, trays: [supply], shuffle: true}
actual:
  tray: {x_m: {distribution: normal, sd: 0.005}, yaw_deg: {distribution: uniform, low: -3, high: 3}}
sensors:
  - {type: tool_status, robot: arm, rate_hz: 25}
  - {type: logical_detector, name: detector_arm, camera: camera, rate_hz: 10, delay_s: 0.05}
"""

file = Path(tempfile.mkdtemp()) / "bench.yaml"
file.write_text(CELL, encoding="utf-8")

for finding in cw.check_cell(cw.load_cell(file)):
    print("ok   " if finding.ok else "WRONG", f"{finding.check}: {finding.detail}")

pair = cw.KitDesign.of("pair", "sku_kit_m2l1_vessel", {"sku_part_medium_gear": 2})
for seed in (1, 2):
    with cw.Lab.from_cell(file, seed) as lab:
        report = lab.run(cw.Order.of("pair", {pair: 1}))
    print(f"seed {seed}: done {report.done}, {report.reason}")
