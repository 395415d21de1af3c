"""What panels are made of: the frame around one, a table, a field that is never saved, a view."""

from .field import Field
from .frame import Frame
from .table import Bar, Cell, Column, Mark, Table
from .view import View

__all__ = ["Bar", "Cell", "Column", "Field", "Frame", "Mark", "Table", "View"]
