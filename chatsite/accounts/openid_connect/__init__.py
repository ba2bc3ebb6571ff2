"""Signing in at an OpenID Connect provider, on top of django-allauth's.

allauth trusts the connection to the provider: it takes an ID token without looking at its signature, sends no nonce,
and prefers what `userinfo` says without asking whether it is of the same person. Here all three are checked.
https://openid.net/specs/openid-connect-core-1_0.html#IDTokenValidation (2026-11-21)
"""
