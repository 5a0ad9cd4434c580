"""Mesh files: every format, units, faults; two files of one name stay two meshes."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from cellwright.models.description import MeshFile
from cellwright.models.importing.mesh_files import load_mesh
from cellwright.models.importing.mesh_part import MeshError, distinct_points
from cellwright.models.importing.meshes import MeshStore, convex_hull, open_edges, simplified, solid_of
from cellwright.models.importing.notes import Notes
from cellwright.shapes.mesh import Mesh, cuboid, lathe

CUBE = cuboid([0, 0, 0], [1, 2, 3])


def stl(mesh):
    head = b"solid but binary".ljust(80) + struct.pack("<I", len(mesh.faces))
    corners = mesh.vertices[mesh.faces].astype("<f4")
    return head + b"".join(bytes(12) + corner.tobytes() + bytes(2) for corner in corners)


def text_stl(mesh):
    rows = ["solid cube"]
    for corner in mesh.vertices[mesh.faces]:
        rows += [
            "facet normal 0 0 0",
            "outer loop",
            *(f"vertex {x} {y} {z}" for x, y, z in corner),
            "endloop",
            "endfacet",
        ]
    return "\n".join([*rows, "endsolid"]).encode()


def obj(mesh):
    rows = ["mtllib cube.mtl", "usemtl red"] + [f"v {x} {y} {z}" for x, y, z in mesh.vertices]
    rows += [f"f {a + 1}//1 {b + 1}//1 {c - len(mesh.vertices)}//1" for a, b, c in mesh.faces]
    return "\n".join(rows).encode()


def dae(mesh, unit=0.5, axis="Z_UP"):
    points = " ".join(map(str, mesh.vertices.ravel()))
    faces = " ".join(f"{a} 0 {b} 0 {c} 0" for a, b, c in mesh.faces)
    return f"""<?xml version="1.0"?><COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
    <asset><unit meter="{unit}"/><up_axis>{axis}</up_axis></asset>
    <library_effects><effect id="e"><profile_COMMON><technique sid="t"><phong><diffuse><color>0.1 0.2 0.3 1</color>
    </diffuse></phong></technique></profile_COMMON></effect></library_effects>
    <library_materials><material id="m"><instance_effect url="#e"/></material></library_materials>
    <library_geometries><geometry id="g"><mesh><source id="p"><float_array id="pa" count="{mesh.vertices.size}">{points}
    </float_array><technique_common><accessor source="#pa" stride="3"/></technique_common></source>
    <vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
    <triangles count="{len(mesh.faces)}" material="s"><input semantic="VERTEX" source="#v" offset="0"/>
    <input semantic="NORMAL" source="#p" offset="1"/><p>{faces}</p></triangles></mesh></geometry></library_geometries>
    <library_visual_scenes><visual_scene id="s1"><node><translate>10 0 0</translate><node><scale>2 2 2</scale>
    <instance_geometry url="#g"><bind_material><technique_common><instance_material symbol="s" target="#m"/>
    </technique_common></bind_material></instance_geometry></node></node></visual_scene></library_visual_scenes>
    <scene><instance_visual_scene url="#s1"/></scene></COLLADA>""".encode()


@pytest.mark.parametrize(("name", "make"), [("a.stl", stl), ("b.STL", text_stl), ("c.obj", obj)])
def test_stl_and_obj_give_the_same_solid(tmp_path, name, make):
    file = tmp_path / name
    file.write_bytes(make(CUBE))
    (tmp_path / "cube.mtl").write_text("newmtl red\nKd 1 0 0\n")
    (part,) = load_mesh(file).parts
    assert open_edges(part.mesh) == 0
    assert part.mesh.volume_m3 == pytest.approx(6.0)
    assert part.rgba == ((1.0, 0.0, 0.0, 1.0) if name == "c.obj" else None)


def test_collada_has_a_unit_nodes_and_colours(tmp_path):
    file = tmp_path / "cube.dae"
    file.write_bytes(dae(CUBE))
    loaded = load_mesh(file)
    (part,) = loaded.parts
    np.testing.assert_allclose(part.mesh.vertices.min(axis=0), [5, 0, 0])
    np.testing.assert_allclose(part.mesh.vertices.max(axis=0), [6, 2, 3])
    assert part.rgba == (0.1, 0.2, 0.3, 1.0)
    assert loaded.facts == ()
    file.write_bytes(dae(CUBE, axis="Y_UP"))
    assert load_mesh(file).facts == ("its up axis Y_UP is not applied, as in ROS",)


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("a.stl", b"", "has no triangles"),
        ("a.stl", b"solid x\nendsolid x", "has no triangles"),
        ("a.stl", bytes(80) + struct.pack("<I", 5) + bytes(60), "it says 5 triangles, and holds 1"),
        ("a.stl", b"version https://git-lfs.github.com/spec/v1\noid x", "Git LFS pointer"),
        ("a.obj", b"v 0 0 0\nf 1 2 9\n", "names a corner that does not exist"),
        ("a.obj", b"v 0 0 x\n", "is no OBJ file"),
        ("a.dae", b"<COLLADA", "is no DAE file"),
        ("a.ply", b"ply", "unknown format '.ply'"),
        ("a.obj", b"v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "not finite"),
    ],
)
def test_a_mesh_that_cannot_be_used_is_one_line(tmp_path, name, data, words):
    file = tmp_path / name
    file.write_bytes(data)
    with pytest.raises(MeshError, match=words):
        load_mesh(file)
    notes = Notes()
    assert MeshStore(notes).parts(MeshFile(name, file)) == ()
    assert len(notes) == 1


def test_open_and_inside_out_meshes_are_mended():
    assert open_edges(CUBE) == 0
    turned, fact = solid_of(Mesh(CUBE.vertices, CUBE.faces[:, ::-1]))
    assert turned.volume_m3 == pytest.approx(6.0)
    assert "inside out" in fact
    hull, fact = solid_of(Mesh(CUBE.vertices, CUBE.faces[1:]))
    assert hull.volume_m3 == pytest.approx(6.0, rel=1e-5)
    assert "3 open edges" in fact
    flat = Mesh(np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]]), np.array([[0, 1, 2]]))
    assert solid_of(flat)[0] is None


def test_a_hull_encloses_its_points():
    points = np.random.default_rng(0).normal(size=(200, 3)) * 1e-3
    hull = convex_hull(points)
    assert open_edges(hull) == 0
    corners = hull.vertices[hull.faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    above = np.einsum("fi,pfi->pf", normals, points[:, None] - corners[:, 0])
    assert (above / np.linalg.norm(normals, axis=1)).max() < 1e-8


def test_scale_and_mirror(tmp_path):
    file = tmp_path / "cube.stl"
    file.write_bytes(stl(CUBE))
    notes = Notes()
    mirrored = MeshStore(notes).whole(MeshFile("cube.stl", file, (-0.001, 0.001, 0.001)))
    assert mirrored.volume_m3 == pytest.approx(6e-9)
    assert list(notes) == []
    MeshStore(notes).whole(MeshFile("cube.stl", file, (100, 100, 100)))
    assert "is 300 m large" in notes[0].what


def test_visual_and_collision_of_one_name_stay_apart(tmp_path, load):
    for folder, mesh in (("visual", CUBE), ("collision", cuboid([0, 0, 0], [2, 2, 2]))):
        (tmp_path / "my_robot" / "meshes" / folder).mkdir(parents=True)
        (tmp_path / "my_robot" / "meshes" / folder / "link.stl").write_bytes(stl(mesh))
    shape = (
        '<{0}><geometry><mesh filename="package://my_robot/meshes/{0}/link.stl" scale="0.1 0.1 0.1"/></geometry></{0}>'
    )
    file = tmp_path / "my_robot" / "thing.urdf"
    text = f'<robot name="r"><link name="a">{shape.format("visual")}{shape.format("collision")}</link></robot>'
    file.write_text(text)
    model = load(file, "fixture").spec.compile()
    assert model.nmesh == 2
    assert sorted(np.round(2 * model.geom_aabb[:, 3:].max(axis=1), 3)) == [0.2, 0.3]


def test_a_part_stands_as_its_file_says_a_description_as_ros_shows_it(tmp_path, load):
    (tmp_path / "part.dae").write_bytes(dae(CUBE, unit=0.01, axis="Y_UP"))
    flat = np.ptp(load_mesh(tmp_path / "part.dae").parts[0].mesh.vertices, axis=0)
    np.testing.assert_allclose(flat, [0.02, 0.04, 0.06], atol=1e-9)
    part = load(tmp_path / "part.dae", mass_kg=0.1)
    np.testing.assert_allclose(part.high_m, [0.01, 0.03, 0.04], atol=1e-9)
    assert [note.what for note in part.notes] == ["its up axis Y_UP is turned to z"]


def test_pictures_and_missing_colours_are_facts(tmp_path):
    (tmp_path / "cube.obj").write_bytes(obj(CUBE))
    assert load_mesh(tmp_path / "cube.obj").facts == ("its colours are not there: cube.mtl not found",)
    (tmp_path / "cube.mtl").write_text("newmtl red\nKd 1 0 0\nmap_Kd -s 1 1 1 wood.png\n")
    assert load_mesh(tmp_path / "cube.obj").facts == ("pictures are not used, surfaces have one colour: wood.png",)
    image = b'<library_images><image id="i"><init_from>skin.jpg</init_from></image></library_images><library_effects>'
    text = dae(CUBE).replace(b"<color>0.1 0.2 0.3 1</color>", b'<texture texture="i"/>')
    (tmp_path / "cube.dae").write_bytes(text.replace(b"<library_effects>", image))
    assert load_mesh(tmp_path / "cube.dae").facts == ("pictures are not used, surfaces have one colour: skin.jpg",)


def test_a_mesh_of_a_hundred_thousand_corners_is_thinned_out_and_keeps_its_shape():
    ball = lathe([(0.05 * np.sin(a), -0.05 * np.cos(a)) for a in np.linspace(0.01, np.pi - 0.01, 160)], 320)
    assert len(ball.vertices) > 50_000
    hull, few = convex_hull(ball.vertices), simplified(ball, 5_000)
    assert len(hull.vertices) < 2_100
    assert hull.volume_m3 == pytest.approx(ball.volume_m3, rel=5e-3)
    assert len(few.faces) <= 5_000
    assert few.volume_m3 == pytest.approx(ball.volume_m3, rel=0.05)
    assert open_edges(few) == 0


def test_points_are_told_apart_by_all_their_digits():
    points = np.array([[0.1, 0.2, 0.3], [0.1, 0.2, 0.3 + 1e-16], [-0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [0.1, 0.2, 0.3]])
    unique, place = distinct_points(points)
    assert len(unique) == len({tuple(row) for row in points.tolist()})
    np.testing.assert_array_equal(unique[place], points)
