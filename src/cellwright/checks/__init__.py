"""Checks: whether a cell or a model is fit for use, each finding with its remedy."""
