"""Views of the API at `/v1`: no cookie is read here, a key decides; begin with `answers`."""
