"""The fields of the form of a scenario, as a browser sends them."""

from __future__ import annotations

FORM = {
    "name": "Guide",
    "system_prompt": "Be brief.\r\nBe kind.",
    "language_model": "",
    "sampling": '{"temperature": 0.2}',
    "policy_name": "sliding",
    "low_water_share": "0.7",
    "last_messages": "20",
    "grounding_share": "0.5",
    "recall_share": "0.25",
    "summary_cap_tokens": "1000",
}
