"""The command as it is typed, in this process."""

import pytest

from confkit import cli


@pytest.fixture
def said(capsys):
    """Runs the command in this process: its exit status, standard output and standard error."""

    def run(*arguments):
        status = cli.main(["runbook", *arguments])
        return (status, *capsys.readouterr())

    return run
