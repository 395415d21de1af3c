"""The figure that charts come as."""

from io import BytesIO

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure


class Chart(Figure):
    """A matplotlib Figure that a notebook shows by itself, whether pyplot is loaded or not."""

    def _repr_png_(self) -> bytes:
        picture = BytesIO()
        FigureCanvasAgg(self).print_png(picture)
        return picture.getvalue()
