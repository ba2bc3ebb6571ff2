from conversations.tools.registry import tool


@tool
def weather(city: str, days: int = 1) -> str:
    """Tell the weather of the next days.

    Args:
        city: Its name in English.
    """
    return f"{city}: sun for {days} days"


@tool(name="book_table", needs_approval=True, timeout_seconds=3)
async def book(seats: int) -> str:
    """Book a table."""
    return f"booked for {seats}"
