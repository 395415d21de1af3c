"""placeholder"""
def contract() -> str:
    """The contract."""
    return ""
