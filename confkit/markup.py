"""HTML of ours that holds other people's texts."""

_OPEN_MATHS = ("$", "\\(", "\\[", "\\begin")  # where a notebook would look for a formula


def as_it_is(html: str) -> str:
    """The HTML, of which a notebook sets no part as a formula: a topic may hold two dollars."""
    if not any(opening in html for opening in _OPEN_MATHS):
        return html
    return f"<div class='tex2jax_ignore mathjax_ignore'>{html}</div>"  # MathJax 3, and 4
