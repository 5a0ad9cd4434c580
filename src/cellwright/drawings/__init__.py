"""Drawings: what a controller may know of a cell before it has looked, and the database that its belief starts from."""
