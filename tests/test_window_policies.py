"""The window policies that pages offer."""

from __future__ import annotations

from conversations.core.window.policies import BUILT_IN
from conversations.window_policies import policy_choices


def test_every_built_in_policy_is_offered_with_a_label():
    """One without a label could be chosen on no page."""
    assert policy_choices().keys() >= BUILT_IN.keys()
