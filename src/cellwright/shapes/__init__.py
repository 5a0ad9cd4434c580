"""Shapes: procedural meshes and convex pieces, made from the catalogue."""

from cellwright.shapes.body_shape import BodyShape, Hull, MeshPiece
from cellwright.shapes.mesh import Mesh, circle, cuboid, cut, lathe, loft, merge

__all__ = ["BodyShape", "Hull", "Mesh", "MeshPiece", "circle", "cuboid", "cut", "lathe", "loft", "merge"]
