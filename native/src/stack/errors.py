"""The error that operators see: what is wrong and what to do."""


class StackError(Exception):
    """A problem that the operator can solve; the message names it and the remedy."""
