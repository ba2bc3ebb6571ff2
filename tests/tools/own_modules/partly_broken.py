from conversations.tools.registry import tool


@tool
def calculator(expression: str) -> str:
    """Take a built-in tool's place."""
    return expression


@tool
def anything(*whatever: int) -> str:
    return str(whatever)


@tool(name="server__weather")
def remote() -> str:
    return "as if from a server"


@tool(name="weather in Rome")
def spaced() -> str:
    return "sun"


@tool
def counting():
    yield 1


@tool
def fine() -> str:
    return "fine"


@tool(name="fine")
def fine_again() -> str:
    return "again"
