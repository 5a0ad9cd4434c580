"""Files by package, by model, by URL, by path; capitals do not matter."""

from __future__ import annotations

import pytest

from cellwright.models.importing.paths import FileFinder


@pytest.fixture
def tree(tmp_path):
    for path in ("ws/arm_support/meshes/Link_1.STL", "ws/arm_support/urdf/arm.urdf", "models/table/top.dae"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("x")
    (tmp_path / "ws/arm_support/package.xml").write_text("<package><name>arm_support</name></package>")
    (tmp_path / "ws/odd_folder/meshes").mkdir(parents=True)
    (tmp_path / "ws/odd_folder/package.xml").write_text("<package format='3'>\n <name> other_pkg </name></package>")
    (tmp_path / "ws/odd_folder/meshes/a.obj").write_text("x")
    return tmp_path


@pytest.mark.parametrize(
    ("uri", "found"),
    [
        ("package://arm_support/meshes/Link_1.STL", "ws/arm_support/meshes/Link_1.STL"),
        ("package://arm_support/Meshes/link_1.stl", "ws/arm_support/meshes/Link_1.STL"),
        ("../meshes/Link_1.STL", "ws/arm_support/meshes/Link_1.STL"),
        ("meshes/Link_1.STL", "ws/arm_support/meshes/Link_1.STL"),  # from a parent of the file
        ("$(find arm_support)/meshes/Link_1.STL", "ws/arm_support/meshes/Link_1.STL"),
        ("file://{root}/models/table/top.dae", "models/table/top.dae"),
        ("{root}/models/table/top.dae", "models/table/top.dae"),
        ("package://other_pkg/meshes/a.obj", None),  # not asked to look there
        ("model://table/top.dae", None),
        ("http://example.org/a.stl", None),
        ("package://arm_support/meshes/none.stl", None),
        ("", None),
    ],
)
def test_what_is_found_beside_the_file(tree, uri, found):
    path = FileFinder(tree / "ws/arm_support/urdf/arm.urdf").find(uri.format(root=tree))
    assert path == (None if found is None else tree / found)


def test_search_folders_and_names_in_manifests(tree):
    finder = FileFinder(tree / "ws/arm_support/urdf/arm.urdf", [tree])
    assert finder.find("model://table/top.dae") == tree / "models/table/top.dae"
    assert finder.find("package://other_pkg/meshes/a.obj") == tree / "ws/odd_folder/meshes/a.obj"


def test_the_environment_is_searched(tree, monkeypatch):
    finder = FileFinder(tree / "ws/arm_support/urdf/arm.urdf")
    monkeypatch.setenv("GZ_SIM_RESOURCE_PATH", str(tree / "models"))
    assert finder.find("model://table/top.dae") == tree / "models/table/top.dae"
