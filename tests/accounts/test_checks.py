import pytest

from chatsite.accounts.checks import check_sign_up


def ids():
    return [message.id for message in check_sign_up(None)]


@pytest.fixture(autouse=True)
def _by_domain(settings):
    settings.SIGN_UP, settings.SIGN_UP_DOMAINS, settings.SMTP_URL = (
        "domains",
        ["example.org"],
        "smtp://mail.example.org",
    )


def test_domains_with_mail_are_fine():
    assert ids() == []


def test_a_policy_of_no_domain_stops_the_start(settings):
    settings.SIGN_UP_DOMAINS = []
    assert ids() == ["accounts.E001"]


def test_what_is_no_domain_stops_the_start(settings):
    settings.SIGN_UP_DOMAINS = ["example.org", "*.example.org", "straße.de"]
    assert ids() == ["accounts.E002", "accounts.E002"]


def test_without_mail_no_one_proves_an_address(settings):
    settings.SMTP_URL = ""
    assert ids() == ["accounts.E003"]


def test_an_identity_provider_proves_it_too_where_it_is_the_only_way(settings):
    settings.SMTP_URL, settings.SOCIALACCOUNT_ONLY = "", True
    assert ids() == []


@pytest.mark.parametrize("policy", ["open", "invitation", "closed"])
def test_domains_that_nothing_asks_for_are_warned_of(settings, policy):
    settings.SIGN_UP = policy
    assert ids() == ["accounts.W001"]


@pytest.mark.parametrize("policy", ["open", "invitation", "closed"])
def test_the_other_policies_need_no_mail(settings, policy):
    settings.SIGN_UP, settings.SIGN_UP_DOMAINS, settings.SMTP_URL = policy, [], ""
    assert ids() == []
