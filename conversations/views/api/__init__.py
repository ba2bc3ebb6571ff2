"""Views of the API at `/v1`: a key decides, and no cookie but for the page in `reference`; begin with `api_view`."""
