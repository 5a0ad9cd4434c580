"""The pull of the earth, the one that simulators take when they are told nothing else."""

__all__ = ["GRAVITY_MPS2"]

GRAVITY_MPS2 = 9.81
"""Downwards, along -z of the world. Where a MuJoCo model is at hand, its own `opt.gravity` counts."""
