"""Progress: a line in a terminal, a bar in a notebook, and nothing where nobody watches."""

import re
import threading

from confkit.many.progress import progress_shown


def test_progress_is_a_line_where_it_is_wanted(capfd):
    """True writes a line that is wiped in the end; without a terminal None writes nothing; and no
    thread of its library stays."""
    with progress_shown(True, 3, "importing") as step:
        step()
    out, err = capfd.readouterr()
    assert out == ""
    assert re.search(r"importing: +0%.* 0/3 ", err)
    assert err.endswith("\r")
    assert [one for one in threading.enumerate() if type(one).__module__.startswith("tqdm")] == []
    for unseen in (None, False):
        with progress_shown(unseen, 3, "importing") as step:
            step()
    assert capfd.readouterr() == ("", "")


def shown_by_a_kernel(*before):
    """The messages of a kernel in which two steps were done, after these lines."""
    from jupyter_client.manager import start_new_kernel

    code = """
from confkit.many.progress import progress_shown
with progress_shown(None, 2, "importing") as step:
    step()
    step()
"""
    manager, kernel = start_new_kernel()
    seen = []
    try:
        code = "\n".join([*before, code])
        reply = kernel.execute_interactive(code, timeout=60, output_hook=seen.append)
    finally:
        kernel.stop_channels()
        manager.shutdown_kernel(now=True)
    assert reply["content"]["status"] == "ok", reply["content"]
    return [(message["msg_type"], message["content"].get("data", {})) for message in seen]


def test_a_notebook_without_widgets_shows_no_progress():
    """Nothing is printed, no warning either."""
    seen = shown_by_a_kernel("import sys", "sys.modules['ipywidgets'] = None")
    assert {kind for kind, _ in seen} == {"status", "execute_input"}
