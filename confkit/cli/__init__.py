"""The command `confkit`: the click commands of the modules beside this file."""

import os
import signal
import sys
import warnings

import click

from .. import __version__
from ..errors import ConfkitError
from ..secret import redact
from ..text import echo
from .diagnosis import diagnose, doctor, preflight, probe
from .lab import lab
from .record import record
from .runbook import runbook
from .services import SPOKEN, add_profile, interface, sandbox, token

_COMMANDS = (diagnose, doctor, interface, lab, preflight, probe, record, runbook, sandbox, token)
_SETTINGS = {"help_option_names": ["-h", "--help"], "show_default": True}


@click.group(commands=_COMMANDS, context_settings=_SETTINGS)
@click.version_option(__version__, message=f"confkit %(version)s, speaks {SPOKEN}")
def commands() -> None:
    """Rooms, users and devices of a conferencing service."""


@commands.group(commands=[add_profile])
def profile() -> None:
    """Name a service, so that connect(NAME) finds it."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command, and return its exit status.

    0 or the command's own; 1 after an error, which is one sentence on standard error; 2 after wrong
    usage; 130 when interrupted; 141 when nobody reads its output. SIGTERM and a terminal that hangs
    up interrupt as Ctrl-C does.
    """
    warnings.showwarning = lambda message, *_: _complain(message)
    try:
        if arguments is None:
            arguments = sys.argv[1:]
            for number in (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
                if signal.getsignal(number) == signal.SIG_DFL:  # what nohup ignores stays ignored
                    signal.signal(number, signal.default_int_handler)
        with commands.make_context("confkit", list(arguments)) as context:
            return commands.invoke(context) or 0
    except click.exceptions.Exit as end:  # --help, --version
        return end.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        echo(error.format_message(), err=True)
        return 2
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx else "confkit"
        message = error.format_message()
        _complain(f"{message}{'' if message.endswith(('.', '?')) else '.'} See `{path} --help`.")
        return 2
    except (ConfkitError, ValueError, KeyboardInterrupt) as error:
        for note in getattr(error, "__notes__", ()):  # such as a room that was not deleted
            _complain(note)
        if isinstance(error, KeyboardInterrupt):
            return 130
        _complain(error)
        return 1
    except OSError as error:  # of standard output, to which nothing can be written any more
        if sys.stdout:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):  # such as `| head`
            return 141
        _complain(error)
        return 1


def _complain(what: object) -> None:
    echo(f"confkit: {redact(str(what))}", err=True)
