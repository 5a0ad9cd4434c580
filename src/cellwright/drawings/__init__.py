"""Drawings: prior knowledge of a controller about a cell, and the database that its belief starts from."""
