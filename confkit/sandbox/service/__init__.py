"""The service itself: both interfaces as an ASGI application, and what stands behind them."""
