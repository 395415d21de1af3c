"""Hostile texts in charts: no formula is set, nothing breaks, no picture holds markup."""

import pytest

import confkit as ck

from . import surfaces, texts
from .service import hostile


def test_charts_draw_every_text_as_it_is(tmp_path):
    """Dollars, backslashes, braces, markup and controls: SVG is a drawing, the summary is text."""
    ids = [*texts.MATHS, *texts.MARKUP[::4], *texts.CONTROLS[::5]]
    ids = [one for one in ids if texts.sendable(one)]
    with hostile(ids) as (client, _):
        outputs = list(surfaces.of_charts(client, ids, tmp_path / "occupancy"))
    assert len(outputs) == 6
    for output in outputs:
        assert output.wrong == [], output.where


@pytest.mark.parametrize("text", ["$\\frac{", "$x^2$", "\\", "%", "_{^"])
def test_a_title_that_looks_like_mathematics_is_not_set(text):
    """The drawn text is the text, in which matplotlib looks for no formula."""
    from matplotlib.text import Text

    from tests.occupancy.made import steady

    chart = ck.occupancy_curve(steady([1, 2]), "a", topic=text, service=text)
    drawn = [one for one in chart.findobj(Text) if text in one.get_text()]
    assert drawn
    assert not any(one.get_parse_math() for one in drawn)
    chart._repr_png_()
