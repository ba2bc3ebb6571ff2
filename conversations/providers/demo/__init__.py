"""The demo model, which answers by quoting its prompt when no provider is configured. Begin with `transport`.

Its door: nothing outside imports anything but this module.
"""

from conversations.providers.demo.transport import (
    DEMO_BASE_URL,
    DEMO_LANGUAGE_MODELS,
    DEMO_PICTURES,
    DEMO_PRICES,
    demo_http_client,
)

__all__ = ["DEMO_BASE_URL", "DEMO_LANGUAGE_MODELS", "DEMO_PICTURES", "DEMO_PRICES", "demo_http_client"]
