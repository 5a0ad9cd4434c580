"""Viewing for people: scene and run document of the viewer, traces, live page, video."""
