"""A learner's own client, in any language: the contract, the checker that tries it, and two clients
that meet it."""
