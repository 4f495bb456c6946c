"""How Agent Zero was started."""


def initialize() -> None:
    """There is only one way."""
