"""The command as it is typed, in this process, and a service as a runbook meets a real one."""

import pytest

from confkit import cli
from tests.runbook.harness import deployed


@pytest.fixture
def said(capsys):
    """Runs the command in this process: its exit status, standard output and standard error."""

    def run(*arguments):
        status = cli.main(["runbook", *arguments])
        return (status, *capsys.readouterr())

    return run


@pytest.fixture
def real():
    """A sandbox of another dialect, and a client that takes it for a real service."""
    with deployed() as pair:
        yield pair
