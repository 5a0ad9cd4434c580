"""Stereo: poses of objects from two pictures of one moment."""

from cellwright.perception.stereo.dense_paper import PaperStereo
from cellwright.perception.stereo.dense_stereo import DENSE_METHODS, DenseStereo, FastStereo
from cellwright.perception.stereo.depth_map import DepthMap, Workspace
from cellwright.perception.stereo.rectified_pair import StereoPair, rectify
from cellwright.perception.stereo.sought_model import ROUND, SoughtModel, model_of
from cellwright.perception.stereo.sparse_method import SPARSE_METHODS, CubeOnPlate, SparseStereo, sparse_stereo
from cellwright.perception.stereo.stereo_pair import pair_fault

__all__ = [
    "DENSE_METHODS",
    "ROUND",
    "SPARSE_METHODS",
    "CubeOnPlate",
    "DenseStereo",
    "DepthMap",
    "FastStereo",
    "PaperStereo",
    "SoughtModel",
    "SparseStereo",
    "StereoPair",
    "Workspace",
    "model_of",
    "pair_fault",
    "rectify",
    "sparse_stereo",
]
