"""RTSP for confkit: the preflight, pulling a stream, and code shared with the demo cameras.

The package uses sockets and PyAV and knows nothing of rooms. PyAV and numpy are loaded when a
picture is first encoded or decoded, never at import.
"""
