"""Accounts, a Django app on django-allauth: users, sign-up, sign-in, sessions, the gate, limits, and their admin.

Begin with `models`; `gate.admission` decides who may use the site, `sign_up.policy` who may make an account.
"""
