"""What the fuzzing found, kept: each case by its name, against the property that it broke."""
