"""Debian's GStreamer RTSP server as cameras of somebody else's making; prints two ports, the
second wants a login.

Runs with the system's Python, which has GStreamer's bindings; ends when its input does.
"""

import sys
import threading

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtsp, GstRtspServer  # noqa: E402 - after require_version

SOURCE = "videotestsrc is-live=true ! video/x-raw,width=320,height=240,framerate=15/1 ! "
H264 = "x264enc tune=zerolatency key-int-max=15 ! rtph264pay name=pay0 pt=96"
PIPES = {
    "/h265": "x265enc tune=zerolatency key-int-max=15 ! rtph265pay name=pay0 pt=96",
    "/sound": f"{H264} audiotestsrc is-live=true ! alawenc ! rtppcmapay name=pay1 pt=8",
    "/udp": H264,
    "/vp8": "vp8enc deadline=1 ! rtpvp8pay name=pay0 pt=96",
}
ALLOWED = "viewer, media.factory.access=(boolean)true, media.factory.construct=(boolean)true"


def serve(pipes, auth=None):
    """The port of a server of its own; with `auth` it wants a login for everything."""
    server = GstRtspServer.RTSPServer()
    server.set_address("127.0.0.1")
    server.set_service("0")
    server.set_auth(auth)
    for path, pipe in pipes.items():
        factory = GstRtspServer.RTSPMediaFactory()
        factory.set_launch(f"( {SOURCE}{pipe} )")
        factory.set_shared(True)
        if path == "/udp":
            factory.set_protocols(GstRtsp.RTSPLowerTrans.UDP)
        factory.add_role_from_structure(Gst.Structure.from_string(ALLOWED)[0])
        server.get_mount_points().add_factory(path, factory)
    server.attach(None)
    return server.get_bound_port()


Gst.init(None)
auth = GstRtspServer.RTSPAuth()
auth.set_supported_methods(GstRtsp.RTSPAuthMethod.DIGEST)
token = GstRtspServer.RTSPToken()
token.set_string("media.factory.role", "viewer")
auth.add_digest("admin", "s3cret", token)
print(serve(PIPES), serve({"/login": H264}, auth), flush=True)
loop = GLib.MainLoop()
threading.Thread(target=lambda: (sys.stdin.read(), loop.quit()), daemon=True).start()
loop.run()
