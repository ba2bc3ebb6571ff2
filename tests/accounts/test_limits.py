from decimal import Decimal

import pytest

from chatsite.accounts.limits import LIMITS, effective_limits, inherited_limits
from chatsite.accounts.models import Limits, User

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _no_limits_in_the_settings(settings):
    settings.MESSAGES_PER_MINUTE, settings.REPLIES_PER_USER, settings.MONEY_PER_DAY_USD = 0, 0, None


def test_without_any_row_nothing_is_limited(ada):
    assert {getattr(effective_limits(ada), name) for name in LIMITS} == {None}
    assert set(effective_limits(ada).origins.values()) == {"settings"}


def test_the_settings_are_the_floor(ada, settings):
    settings.MESSAGES_PER_MINUTE, settings.REPLIES_PER_USER, settings.MONEY_PER_DAY_USD = 20, 10, 0.1
    limits = effective_limits(ada)
    assert (limits.messages_per_minute, limits.replies_at_once, limits.money_per_day_usd) == (20, 10, Decimal("0.1"))


def test_a_day_without_money_in_the_settings_is_not_one_without_limit(ada, settings):
    settings.MONEY_PER_DAY_USD = 0.0
    assert effective_limits(ada).money_per_day_usd == 0


def test_the_narrowest_row_that_says_something_holds(ada):
    Limits.objects.create(messages_per_minute=1, replies_at_once=1, message_tokens=1)
    Limits.objects.create(role="user", messages_per_minute=2, replies_at_once=2)
    Limits.objects.create(user=ada, messages_per_minute=3)
    limits = effective_limits(ada)
    assert (limits.messages_per_minute, limits.replies_at_once, limits.message_tokens) == (3, 2, 1)
    origins = [limits.origins[name] for name in LIMITS]
    assert origins == ["user", "role", "site", "settings", "settings", "settings", "settings"]


def test_zero_is_said_and_not_inherited(ada):
    Limits.objects.create(uploads_per_day=5)
    Limits.objects.create(user=ada, uploads_per_day=0)
    assert effective_limits(ada).uploads_per_day == 0


def test_rows_of_other_people_and_roles_say_nothing(ada):
    Limits.objects.create(user=User.objects.create_user("bob@example.org"), uploads_per_day=1)
    Limits.objects.create(role="reviewer", uploads_per_day=2)
    assert effective_limits(ada).uploads_per_day is None


def test_the_role_is_the_one_of_now(ada):
    Limits.objects.create(role="reviewer", uploads_per_day=2)
    User.objects.update(role="reviewer")
    assert effective_limits(ada).uploads_per_day == 2


def test_it_takes_one_statement(ada, django_assert_num_queries):
    Limits.objects.create(user=ada)
    with django_assert_num_queries(1):
        effective_limits(ada)


def test_a_row_inherits_from_the_wider_ones_only(ada):
    site = Limits.objects.create(uploads_per_day=1)
    role = Limits.objects.create(role="user", uploads_per_day=2)
    person = Limits.objects.create(user=ada, uploads_per_day=3)
    assert [inherited_limits(row).uploads_per_day for row in (person, role, site)] == [2, 1, None]
