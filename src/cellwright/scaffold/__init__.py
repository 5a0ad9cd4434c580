"""The first files of a user: a project with a cell, a controller and tests of their own, and the examples."""

from cellwright.scaffold.examples import Example, copy_examples, examples, find_example
from cellwright.scaffold.project import CONTROLLERS_OF_PROJECTS, Project, project_name, write_project

__all__ = [
    "CONTROLLERS_OF_PROJECTS",
    "Example",
    "Project",
    "copy_examples",
    "examples",
    "find_example",
    "project_name",
    "write_project",
]
