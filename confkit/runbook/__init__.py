"""Nine runbooks: functions that yield checks, each with a notebook in `notebooks/runbooks`.

for check in runbook.nobody_can_join(client, "1614903140"):     # as each is made
    print(check)
ck.Checklist(runbook.media_server_gone(client)).verdict         # all, with one verdict

A runbook only reads unless it gets `apply=True`. A check is FAIL where the service answered what is
wrong, and UNKNOWN where that cannot be known: no response, a timeout, a refused token. (Two begin
with checks of `ck.doctor`, to which no response is a FAIL.) What a runbook has created it deletes
again, also when it is interrupted.

A runbook of your own is a generator of `ck.Check` that takes the client first; run it as above. One
of this package is a row of `RUNBOOKS` too, so that `confkit runbook` runs it, with its other
parameters as inputs.
"""

from collections.abc import Callable

from .cameras import bulk_camera_import, camera_does_not_appear, stray_devices
from .people import force_user_offline, nobody_can_join
from .recording import capacity_review
from .service import authentication_fails, deployment_acceptance, media_server_gone
from .steps import Checks

RUNBOOKS: dict[str, Callable[..., Checks]] = {
    "authentication-fails": authentication_fails,
    "bulk-camera-import": bulk_camera_import,
    "camera-does-not-appear": camera_does_not_appear,
    "capacity-review": capacity_review,
    "deployment-acceptance": deployment_acceptance,
    "force-user-offline": force_user_offline,
    "media-server-gone": media_server_gone,
    "nobody-can-join": nobody_can_join,
    "stray-devices": stray_devices,
}

__all__ = ["RUNBOOKS", "Checks", *(function.__name__ for function in RUNBOOKS.values())]
