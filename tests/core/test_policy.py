import pytest

from conversations.core.policy import POLICY_NAMES, Policy


@pytest.mark.parametrize("name", POLICY_NAMES)
def test_every_policy_can_be_chosen_by_name(name):
    assert Policy(name).name == name


@pytest.mark.parametrize(
    "fields",
    [
        {"name": "everything"},
        {"grounding_share": -0.1},
        {"grounding_share": 1.1},
        {"grounding_share": float("nan")},
        {"last_messages": 0},
        {"cap_tokens": 0},
        {"message_cap_tokens": 0},
    ],
)
def test_a_policy_that_can_hold_nothing_is_refused(fields):
    (field,) = fields
    with pytest.raises(ValueError, match="window policy" if field == "name" else field):
        Policy(**fields)
