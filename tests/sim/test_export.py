"""A cell written as MJCF is the same model to whoever opens it."""

import mujoco
import numpy as np
import pytest

from cellwright.cells import actual_layout
from cellwright.core.errors import BadInput
from cellwright.models.exporting import write_mjcf
from cellwright.sim import World
from cellwright.sim.compose import compose


def arrays(model) -> dict[str, np.ndarray]:
    found = {name: getattr(model, name) for name in dir(model) if not name.startswith("_")}
    return {name: value for name, value in found.items() if isinstance(value, np.ndarray)}


@pytest.fixture(scope="module")
def exported(aprs, tmp_path_factory):
    """The lab's own model, and the one that MuJoCo reads from its files."""
    world = World(aprs, seed=2)
    folder = tmp_path_factory.mktemp("export")
    files = write_mjcf(world.full_spec(), folder / "cell.xml")
    return world, files, mujoco.MjModel.from_xml_path(str(folder / "cell.xml"))


def test_it_steps_alike_to_the_bit(exported):
    world, _, model = exported
    runs = []
    for each in (world.model, model):
        data = mujoco.MjData(each)
        data.qpos[:] = world.data.qpos
        data.ctrl[:] = world.data.ctrl
        data.ctrl[world.robots["fanuc"].ctrl_position] += 0.2
        mujoco.mj_step(each, data, 200)
        runs.append((data.qpos.tobytes(), data.qvel.tobytes(), data.qacc.tobytes()))
    assert runs[0] == runs[1]


def test_every_array_of_the_model_is_the_same(exported):
    world, _, model = exported
    mine, read = arrays(world.appearance.now()[0]), arrays(model)
    # Where an asset was read from, how a picture is stored, and numbers of equalities that their kind does not use.
    harmless = {"tex_pathadr", "tex_colorspace", "eq_data", "eq_objtype"}
    different = {name for name in mine if not np.array_equal(mine[name], read[name])}
    assert different <= harmless
    assert np.array_equal(mine["eq_data"][:, :5], read["eq_data"][:, :5])


def test_names_survive(exported):
    world, _, model = exported
    for name, robot in world.robots.items():
        assert model.body(f"{name}/base").id == robot.base_body
    assert model.camera("camera_fanuc/camera").id == world.model.camera("camera_fanuc/camera").id


def test_pictures_lie_beside_it(exported):
    _, files, _ = exported
    assert files[0].name == "cell.xml"
    assert all(file.exists() for file in files)
    assert {file.suffix for file in files[1:]} == {".png"}


def test_the_world_is_not_touched_by_its_export(bench, tmp_path):
    world = World(bench)
    before = arrays(world.model)["geom_pos"].copy()
    write_mjcf(world.full_spec(), tmp_path / "a.xml")
    first = (tmp_path / "a.xml").read_bytes()
    write_mjcf(world.full_spec(), tmp_path / "a.xml")
    assert (tmp_path / "a.xml").read_bytes() == first
    assert np.array_equal(world.model.geom_pos, before)
    world.remove("gear")
    world.engine.step(5)


def test_the_layout_of_the_seed_is_what_is_written(aprs, tmp_path):
    for seed in (0, 1):
        write_mjcf(compose(aprs, actual_layout(aprs, seed)), tmp_path / f"{seed}.xml")
    assert (tmp_path / "0.xml").read_text() != (tmp_path / "1.xml").read_text()


def test_a_folder_that_is_not_there_is_one_line(bench, tmp_path):
    with pytest.raises(BadInput, match=r"^cannot write .*No such file"):
        write_mjcf(compose(bench, actual_layout(bench, 0)), tmp_path / "nowhere" / "cell.xml")
