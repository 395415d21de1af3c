"""The embedded service: a complete implementation of the interface, to learn and to test with."""

try:
    from .sandbox import DEMO_SECRET_KEY, Sandbox
    from .service.state import RoomJoinRefused
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"the sandbox needs {error.name}; run: pip install 'confkit-notebooks[lab]'",
        name=error.name,
    ) from None

__all__ = ["DEMO_SECRET_KEY", "RoomJoinRefused", "Sandbox"]
