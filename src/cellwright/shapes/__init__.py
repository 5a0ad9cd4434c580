"""Shapes: procedural meshes and convex pieces, made from the catalogue."""
