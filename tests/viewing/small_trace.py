"""A trace small enough to be read, for the page's tests: a floor, a table, a gear that is carried, a camera."""

import json

import numpy as np

from cellwright.viewing.packet import Blob, pack

HERE = [1.0, 0.0, 0.0, 0.0]
SECONDS = 4.0
FAILURE_S = 2.5


def small_scene(blob=None) -> bytes:
    material = {"specular": 0.3, "shininess": 0.4, "emission": 0.0, "reflectance": 0.0}
    bodies = [
        {"name": "world", "label": "world", "kind": "world", "pose": [0, 0, 0, *HERE]},
        {"name": "table", "label": "table", "kind": "furniture", "pose": [0, 0, 0.4, *HERE]},
        {"name": "gear_1", "label": "gear_1", "kind": "part", "pose": [0.1, 0, 0.85, *HERE], "sku": "gear"},
    ]
    geoms = [
        {"body": 0, "type": "plane", "size": [0, 0, 1], "pose": [0, 0, 0, *HERE], "material": 0},
        {"body": 1, "type": "box", "size": [0.5, 0.4, 0.4], "pose": [0, 0, 0, *HERE], "material": 1},
        {"body": 2, "type": "cylinder", "size": [0.05, 0.05, 0], "pose": [0, 0, 0, *HERE], "material": 2},
    ]
    header = {
        "bodies": bodies,
        "geoms": geoms,
        "meshes": [],
        "materials": [
            {**material, "rgba": rgba} for rgba in ([0.6, 0.6, 0.6, 1], [0.8, 0.8, 0.82, 1], [0.8, 0.1, 0.1, 1])
        ],
        "textures": [],
        "lights": [
            {
                "position": [1, -1, 4],
                "direction": [-0.3, 0.4, -0.85],
                "diffuse": [0.7] * 3,
                "ambient": [0.0] * 3,
                "specular": [0.3] * 3,
                "directional": True,
                "shadow": True,
            }
        ],
        "headlight": {"diffuse": [0.15] * 3, "ambient": [0.4] * 3, "specular": [0.1] * 3},
        "cameras": [
            {
                "name": "above",
                "body": 0,
                "pose": [0, 0, 2.5, 0.7071, 0, 0.7071, 0],
                "fovy_rad": 0.8,
                "width": 64,
                "height": 48,
            }
        ],
        "view": {"eye": [1.2, -1.6, 1.7], "target": [0, 0, 0.7], "fovy_rad": 0.6},
        "sky": {"top": [0.7, 0.8, 0.9], "horizon": [0.85, 0.88, 0.9], "floor": [0.6, 0.6, 0.6]},
        "zones": [{"name": "shared", "kind": "shared", "low": [-0.2, -0.2, 0.8], "high": [0.2, 0.2, 1.2]}],
        "frames": [{"name": "gear tcp", "body": 2, "pose": [0, 0, 0, *HERE]}],
        "moving": [2],
    }
    return pack("scene", header, Blob() if blob is None else blob)


def small_keys() -> bytes:
    """The gear goes along x by 0.1 m in each second."""
    blob, times = Blob(), np.arange(0, SECONDS + 0.05, 0.1, dtype=np.float32)
    values = np.zeros((7, len(times)))
    values[0] = np.round(times * 1000)
    values[3] = 32767
    offset = blob.add(np.diff(values, axis=1, prepend=0).astype(np.int16))
    start = blob.add(times)
    header = {"hz": 10, "times": start, "count": len(times), "columns": [{"body": 2, "offset": offset}]}
    return pack("keys", header, blob)


def small_run(*, fails: bool = False) -> bytes:
    def action(number, start_s, phase, reason=""):
        predicates = [
            {"text": "part-is-found(gear_1)", "value": True, "evidence": "seen 0.1 s ago", "when": "before"},
            {"text": "holds(gear_1)", "value": phase != "failed", "evidence": "fingers at 2.0 mm", "when": "after"},
        ]
        text = f"take gear_{number}"
        return {"id": f"action {number}", "robot": "arm", "text": text, "start_s": start_s, "end_s": start_s + 1.0,
                "phase": phase, "reason": reason, "predicates": predicates}  # fmt: skip

    last = action(2, FAILURE_S - 1, "failed", "the gear was lost") if fails else action(2, 1.5, "end")
    pose = [0.1, 0.0, 0.85, *HERE]
    return json.dumps(
        {
            "about": {
                "cell": "small", "seed": 3, "fidelity": "full", "order": "one_gear", "controller": "test",
                "status": "failed" if fails else "done", "reason": "nothing is in the kit" if fails else None,
                "score": 0.0 if fails else 1.0, "start_s": 0.0, "end_s": SECONDS,
                "failure_s": FAILURE_S if fails else None, "command": "cellwright run small", "log": "log.mcap",
                "versions": {"cellwright": "0"}, "configuration": {"planner": "test"}, "is_truth_shown": True,
                "notes": [],
            },
            "robots": ["arm"],
            "actions": [action(1, 0.2, "end"), last],
            "plans": [{"time_s": 0.1, "planner": "test", "reason": None,
                       "steps": [{"robot": "arm", "text": f"take gear_{n}", "start_s": None, "end_s": None}
                                 for n in (1, 2)]}],
            "events": [{"time_s": 2.0, "kind": "fault", "text": "drop: <b>gear_1</b>", "subject": "gear_1"}],
            "messages": [{"time_s": 0.2 * n, "robot": "arm", "direction": "command", "name": f"MoveTo{n}", "id": n,
                          "text": f"<MoveTo>{n}</MoveTo>"} for n in range(1, 19)],
            "belief": [{"time_s": 0.0, "id": "gear_1", "sku": "gear", "pose": pose, "sd": [0.001, 0.001, 0.001, 0.1],
                        "slot": None, "state": "seen"}],
            "detections": [{"time_s": 0.1 * n, "source": "above", "items": [{"sku": "gear", "pose": pose, "sd": None}]}
                           for n in range(1, 40)],
            "paths": [{"time_s": 0.2, "robot": "arm", "points": [[0, 0, 1], [0.2, 0, 1], [0.3, 0, 0.9]]}],
            "series": [{"name": "arm joints", "unit": "rad", "labels": ["j1"], "times": [0.0, 2.0, 4.0],
                        "values": [[0.0, 1.0, 0.5]]}],
            "pictures": [],
            "score": [{"name": "kit", "points": None, "most": None, "reason": "one slot", "passed": not fails}],
        }
    ).encode()  # fmt: skip


def small_trace(*, fails: bool = False) -> dict[str, bytes]:
    """Blocks of a trace, as `viewer_page` takes them."""
    return {"scene": small_scene(), "keys": small_keys(), "run": small_run(fails=fails)}
