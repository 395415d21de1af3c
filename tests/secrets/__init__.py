"""Marked secrets are driven through everything that is public, and looked for in all that shows.

`drives` says what is done and with what arguments, `worlds` with which service, `surfaces` where is
looked, and `marks` how a secret is found however it is written.
"""
