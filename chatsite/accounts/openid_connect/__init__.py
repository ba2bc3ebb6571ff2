"""Single sign-on with OpenID Connect, on top of django-allauth's. Begin with `adapter`.

allauth trusts the connection to the provider: it accepts an ID token without checking its signature, sends no nonce,
and prefers `userinfo` without checking that it is of the same subject. Here all three are checked.
https://openid.net/specs/openid-connect-core-1_0.html#IDTokenValidation (2026-11-21)
"""
