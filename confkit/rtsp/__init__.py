"""RTSP for confkit: camera server, puller, and the parsers that both share.

The package knows sockets and PyAV and nothing of rooms.  PyAV and numpy load when a picture is
first encoded or decoded, never at import.
"""
