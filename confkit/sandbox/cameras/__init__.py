"""Test cameras over RTSP, healthy ones and ones with a fault; nothing here loads PyAV at import."""
