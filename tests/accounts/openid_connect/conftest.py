"""An identity provider for all tests, and for each of them the site that trusts it."""

from __future__ import annotations

import pytest

from chatsite.configuration.single_sign_on import social_providers
from tests.support.identity_provider import (
    CLIENT_ID,
    CLIENT_SECRET,
    IdentityProvider,
    person,
    running_identity_provider,
)


@pytest.fixture(scope="module")
def running():
    with running_identity_provider() as provider:
        yield provider


@pytest.fixture
def provider(running, settings) -> IdentityProvider:
    running.person, running.fault = person("ada", "ada@example.org", name="Ada"), ""
    running.requests.clear()
    settings.OIDC_SERVER_URL = running.address
    settings.SOCIALACCOUNT_PROVIDERS = social_providers(
        server_url=running.address, client_id=CLIENT_ID, client_secret=CLIENT_SECRET, name="Team"
    )
    return running
