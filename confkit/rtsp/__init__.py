"""RTSP for confkit: the preflight, pulling, and what the demo cameras share with them.

The package knows sockets and PyAV and nothing of rooms.  PyAV and numpy load when a picture is
first encoded or decoded, never at import.
"""
