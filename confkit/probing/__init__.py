"""How a deployment differs from the paper, found out by asking it."""
