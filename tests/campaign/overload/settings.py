"""How the attacked sandbox is set up, for those that run it, call it and attack it."""

from confkit.dialect import Dialect

DEVICES = 100  # of a list that is long enough to fill a socket now and then
PATIENCE = 2.0  # seconds that the sandbox waits for slow callers
DIALECT = Dialect(list_method="POST", placement="json")
