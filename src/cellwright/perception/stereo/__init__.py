"""Stereo: poses of objects from two pictures of one moment."""

from cellwright.perception.stereo.sparse_method import SPARSE_METHODS, CubeOnPlate, SparseStereo, sparse_stereo

__all__ = ["SPARSE_METHODS", "CubeOnPlate", "SparseStereo", "sparse_stereo"]
