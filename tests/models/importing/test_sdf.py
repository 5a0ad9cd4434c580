"""SDF: poses in frames, nested and included models, old and new versions, worlds."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from cellwright.core.errors import BadInput
from cellwright.models.description import JointKind
from cellwright.models.importing import Notes, read_description

BOX = "<collision name='c'><geometry><box><size>0.1 0.1 0.1</size></box></geometry></collision>"


def read(tmp_path, text, version="1.9", search=()):
    file = tmp_path / "thing.sdf"
    file.write_text(f"<sdf version='{version}'>{text}</sdf>")
    notes = Notes()
    return read_description(file, list(search), notes), notes


def places(world):
    """Links in the world, by walking joints from the roots."""
    found = {}
    for placed in world.models:
        model = placed.model
        waiting = [(model.roots[0], placed.pose)]
        while waiting:
            name, pose = waiting.pop()
            found[name] = pose
            waiting += [(j.child, pose @ j.pose) for j in model.joints if j.parent == name]
    return found


def test_poses_are_given_in_frames_joints_and_links_in_any_order(tmp_path):
    world, _ = read(
        tmp_path,
        f"""<model name='m'><pose>1 0 0 0 0 0</pose>
        <link name='c'><pose relative_to='mid'>0 0 0.5 0 0 0</pose>{BOX}</link>
        <frame name='mid' attached_to='b'><pose relative_to='j'>0 0.25 0 0 0 1.5707963267948966</pose></frame>
        <joint name='j' type='fixed'><parent>a</parent><child>b</child>
        <pose relative_to='a'>0.1 0 0 0 0 0</pose></joint>
        <link name='b'><pose relative_to='a'>0 0 1 0 0 0</pose>{BOX}</link>
        <link name='a'><pose>0 2 0 0 0 0</pose>{BOX}</link>
        <joint name='k' type='fixed'><parent>b</parent><child>c</child></joint></model>""",
    )
    found = places(world)
    np.testing.assert_allclose(found["a"].position, [1, 2, 0], atol=1e-12)
    np.testing.assert_allclose(found["b"].position, [1, 2, 1], atol=1e-12)
    np.testing.assert_allclose(found["c"].position, [1.1, 2.25, 0.5], atol=1e-12)
    np.testing.assert_allclose(found["c"].rpy, [0, 0, np.pi / 2], atol=1e-12)
    frame = world.models[0].model.frames[0]
    assert frame.link == "b"
    np.testing.assert_allclose(frame.pose.position, [0.1, 0.25, -1], atol=1e-12)


@pytest.mark.parametrize(
    ("version", "extra", "expected"),
    [
        ("1.4", "", (0, 0, 1)),  # in the model's frame
        ("1.6", "", (0, -1, 0)),  # in the joint's
        ("1.6", "<use_parent_model_frame>1</use_parent_model_frame>", (0, 0, 1)),
        ("1.9", "", (0, -1, 0)),
    ],
)
def test_an_axis_is_given_in_the_frame_that_its_version_means(tmp_path, version, extra, expected):
    """The child is turned by 90 degrees about x: z of its frame is -y of the model's."""
    world, _ = read(
        tmp_path,
        f"""<model name='m'><link name='a'>{BOX}</link>
        <link name='b'><pose>0 0 1 1.5707963267948966 0 0</pose>{BOX}</link>
        <joint name='j' type='revolute'><parent>a</parent><child>b</child>
        <axis><xyz>0 0 1</xyz>{extra}<limit><lower>-1</lower><upper>1</upper></limit></axis></joint></model>""",
        version,
    )
    joint = world.models[0].model.joints[0]
    in_model = joint.pose.rotation_matrix @ np.array(joint.axis)
    np.testing.assert_allclose(in_model, expected, atol=1e-12)


def test_nested_and_included_models_keep_their_names_and_places(tmp_path):
    folder = tmp_path / "models" / "hand"
    folder.mkdir(parents=True)
    (folder / "model.config").write_text(
        "<model><name>h</name><sdf version='1.5'>old.sdf</sdf><sdf version='1.9'>new.sdf</sdf></model>"
    )
    (folder / "old.sdf").write_text("<sdf version='1.5'><model name='old'/></sdf>")
    (folder / "new.sdf").write_text(
        f"""<sdf version='1.9'><model name='hand'><link name='palm'>{BOX}</link>
        <frame name='grip'><pose>0 0 0.2 0 0 0</pose></frame></model></sdf>"""
    )
    world, notes = read(
        tmp_path,
        f"""<model name='m'><link name='a'>{BOX}</link>
        <model name='inner'><pose>0 1 0 0 0 0</pose><link name='b'><pose>0 0 1 0 0 0</pose>{BOX}</link></model>
        <include><uri>model://hand</uri><name>left</name><pose>3 0 0 0 0 0</pose>
          <placement_frame>grip</placement_frame></include>
        <joint name='j' type='fixed'><parent>a</parent><child>inner::b</child></joint>
        <joint name='k' type='fixed'><parent>inner</parent><child>left::palm</child></joint></model>""",
        search=[tmp_path / "models"],
    )
    found = places(world)
    np.testing.assert_allclose(found["inner::b"].position, [0, 1, 1], atol=1e-12)
    np.testing.assert_allclose(found["left::palm"].position, [3, 0, -0.2], atol=1e-12)
    assert list(notes) == []


def test_a_world_has_models_at_places_and_no_lights(tmp_path, load):
    text = f"""<world name='w'><gravity>0 0 -9.8</gravity><light name='sun' type='directional'/>
        <frame name='table_top'><pose>0 0 0.7 0 0 0</pose></frame>
        <model name='table'><static>1</static><link name='top'><pose>0 0 0.65 0 0 0</pose>{BOX}</link>
          <link name='leg'><pose>0 0 0.3 0 0 0</pose>{BOX}</link></model>
        <model name='lamp'><pose relative_to='cube'>0 0 1 0 0 0</pose><link name='l'/></model>
        <model name='cube'><pose relative_to='table_top'>0.2 0 0.05 0 0 0</pose><link name='top'>{BOX}</link></model>
        </world>"""
    world, notes = read(tmp_path, text)
    assert [placed.model.name for placed in world.models] == ["table", "lamp", "cube"]
    np.testing.assert_allclose(world.models[1].pose.position, [0.2, 0, 1.75], atol=1e-12)
    assert world.gravity_mps2 == (0.0, 0.0, -9.8)
    np.testing.assert_allclose(world.models[2].pose.position, [0.2, 0, 0.75], atol=1e-12)
    assert [note.what for note in notes] == ["1 x <light> is not used"]
    figures = load(tmp_path / "thing.sdf", "fixture")
    model = figures.spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    heights = sorted({round(float(z), 6) for z in data.geom_xpos[:, 2]})
    assert heights == [0.3, 0.65, 0.75]
    only = load(tmp_path / "thing.sdf", "fixture", model="cube").spec.compile()
    assert only.nbody == 2
    assert only.body(1).pos[2] == pytest.approx(0.75)


def test_a_loop_is_closed_by_constraints(tmp_path, load):
    """A four-bar linkage: the last bar's second joint closes it, and physics keeps it closed."""
    links = "".join(
        f"<link name='{n}'><pose>{x} 0 {z} 0 0 0</pose>{BOX.replace('0.1 0.1 0.1', '0.02 0.02 0.02')}</link>"
        for n, x, z in (("ground", 0, 0), ("left", 0, 0), ("right", 0.4, 0), ("bar", 0, 0.2))
    )
    limit = "<limit><lower>-2</lower><upper>2</upper></limit>"
    joints = "".join(
        f"<joint name='{n}' type='revolute'><parent>{p}</parent><child>{c}</child>"
        f"<pose relative_to='{at}'>{x} 0 {z} 0 0 0</pose>"
        f"<axis><xyz>0 1 0</xyz>{'' if n == 'j4' else limit}</axis></joint>"
        for n, p, c, at, x, z in (
            ("j1", "ground", "left", "left", 0, 0),
            ("j2", "ground", "right", "right", 0, 0),
            ("j3", "left", "bar", "bar", 0, 0),
            ("j4", "right", "bar", "bar", 0.4, 0),
        )
    )
    world, notes = read(tmp_path, f"<model name='four_bar'>{links}{joints}</model>")
    kinds = [joint.kind for joint in world.models[0].model.joints]
    assert kinds == [JointKind.REVOLUTE] * 3 + [JointKind.CONTINUOUS]
    from cellwright.catalogue.model_settings import ModelSettings
    from cellwright.models.importing.source import read_source

    file = tmp_path / "thing.sdf"
    notes = Notes()
    model = read_source(file, ModelSettings(file=str(file)), [], notes).spec.compile()
    assert model.nv == 3
    assert model.neq == 2
    assert any("closes a loop" in note.what for note in notes)
    data = mujoco.MjData(model)
    data.qpos[model.joint("j1").qposadr] = 0.01
    for _ in range(500):
        mujoco.mj_step(model, data)
    assert data.joint("j1").qpos[0] == pytest.approx(data.joint("j2").qpos[0], abs=0.02)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            f"<model name='m'><link name='a'><pose relative_to='b'/>{BOX}</link>"
            f"<link name='b'><pose relative_to='a'/>{BOX}</link></model>",
            "poses run in a circle: a -> b -> a",
        ),
        (f"<model name='m'><link name='a'><pose relative_to='x'/>{BOX}</link></model>", "frame 'x' does not exist"),
        (f"<model name='m' placement_frame='x'><link name='a'>{BOX}</link></model>", "placement_frame 'x'"),
        (f"<model name='m'><link name='a'><pose>1 2 3</pose>{BOX}</link></model>", "has 3 numbers, 6 are needed"),
    ],
)
def test_frames_that_do_not_exist_are_named(tmp_path, text, words):
    with pytest.raises(BadInput, match=words):
        read(tmp_path, text)


def test_sensors_and_a_missing_include_are_noted(tmp_path, load):
    text = f"""<model name='m'><link name='a'>{BOX}
        <sensor name='eye' type='camera'><update_rate>30</update_rate><pose>0 0 0.1 0 0 0</pose>
          <camera><horizontal_fov>1.0</horizontal_fov><image><width>640</width><height>320</height></image></camera>
        </sensor>
        <sensor name='ray' type='gpu_lidar'/></link>
        <include><uri>model://nowhere</uri></include></model>"""
    world, notes = read(tmp_path, text)
    eye, ray = world.models[0].model.sensors
    assert (eye.kind, eye.rate_hz, eye.settings["camera/horizontal_fov"]) == ("camera", 30.0, "1.0")
    assert ray.kind == "gpu_lidar"
    assert any("model://nowhere" in note.what for note in notes)
    figures = load(tmp_path / "thing.sdf", "fixture")
    camera = figures.spec.camera("eye")
    assert camera.fovy == pytest.approx(np.degrees(2 * np.arctan(np.tan(0.5) / 2)))
    assert camera.resolution.tolist() == [640, 320]
    assert any("gpu_lidar is not simulated" in note.what for note in figures.notes)


def test_a_robot_in_a_world_keeps_its_speeds_and_its_odd_names(tmp_path, load):
    links = "".join(f"<link name='r/{n}'><pose>0 0 {0.3 * n} 0 0 0</pose>{BOX}</link>" for n in range(4))
    joints = "".join(
        f"<joint name='j{n}' type='revolute'><parent>r/{n}</parent><child>r/{n + 1}</child><axis><xyz>{n % 2} 1 0</xyz>"
        "<limit><lower>-1</lower><upper>1</upper><velocity>0.7</velocity><effort>900</effort></limit></axis></joint>"
        for n in range(3)
    )
    text = f"<world name='w'><model name='a'>{links}{joints}</model><model name='b'><link name='l'>{BOX}</link></model>"
    read(tmp_path, f"{text}</world>")
    arm = load(tmp_path / "thing.sdf")
    assert [(joint.name, joint.velocity_limit_radps) for joint in arm.joints] == [(f"a::j{n}", 0.7) for n in range(3)]
    assert sum("slash" in note.what for note in arm.notes) == 1
    assert any("one arm of 2 models" in note.what for note in arm.notes)
