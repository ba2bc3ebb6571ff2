from conversations.tools.registry import tool


@tool
def before() -> str:
    return "declared before the module broke"


raise SystemExit("this module ends the process that imports it")
