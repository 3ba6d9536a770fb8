"""The one error that a person sees: what is wrong and what to do about it."""


class StackError(Exception):
    """A condition the operator can remedy; its text names it and the remedy."""
