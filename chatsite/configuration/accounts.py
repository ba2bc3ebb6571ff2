"""Settings of accounts: sign-up, sign-in, mail, second factors and single sign-on, most of them django-allauth's."""

from __future__ import annotations

from django.core.exceptions import ImproperlyConfigured

from chatsite.configuration.mail import parse_smtp_url
from chatsite.configuration.single_sign_on import social_providers
from chatsite.configuration.site import ENV, SITE_NAME, SITE_SCHEME

AUTH_USER_MODEL = "accounts.User"
# What the role reviewer allows in the admin, beside what every reviewer may do: read.
REVIEWER_PERMISSIONS = frozenset(
    f"conversations.view_{model}"
    for model in ("conversation", "message", "completion", "toolcall", "reading", "run", "share")
)
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
PASSWORD_HASHERS = [
    "chatsite.accounts.password_hasher.BoundedArgon2Hasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator",
        "OPTIONS": {"user_attributes": ("email", "name")},
    },
    {"NAME": "chatsite.accounts.own_words.OwnWordsValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
PASSWORD_RESET_TIMEOUT = 60 * 60  # seconds; who was sent a link and comes later asks for another
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "/"

SMTP_URL = ENV.secret(
    "SMTP_URL",
    help="Mail server: smtps://user:password@mail.example.org (TLS, port 465), smtp://… (STARTTLS, port 587) or "
    "smtp+plain://… (never encrypted, port 25: for a relay on this machine or network). Another port follows the host; "
    "user and password can be left out, and their special characters are written as %XX. With it, new accounts must "
    "confirm their address; without it, mails are printed where the site was started.",
)
DEFAULT_FROM_EMAIL = ENV.text("MAIL_FROM", default="windowseat@localhost", help="Sender of mails.")
SIGN_UP = ENV.choice(
    "SIGN_UP",
    ("open", "domains", "invitation", "closed"),
    default="open",
    help="Who may create an account. open: everyone; domains: an address in `SIGN_UP_DOMAINS`, or an invitation; "
    "invitation: only with an invitation; closed: no one.",
)
SIGN_UP_DOMAINS = ENV.words("SIGN_UP_DOMAINS", help="Domains of email addresses, for `SIGN_UP=domains`.")
STAFF_SECOND_FACTOR = ENV.switch(
    "STAFF_SECOND_FACTOR", default=False, help="Reviewers and admins must have a second factor to enter the admin."
)
OIDC_SERVER_URL = ENV.text(
    "OIDC_SERVER_URL",
    help="An OpenID Connect provider to sign in with, such as https://id.example.org/realms/team; http:// is for "
    "localhost alone.",
)
OIDC_CLIENT_ID = ENV.text("OIDC_CLIENT_ID", help="This site's name at that provider.")
OIDC_CLIENT_SECRET = ENV.secret("OIDC_CLIENT_SECRET", help="This site's secret at that provider.")
OIDC_NAME = ENV.text("OIDC_NAME", default="Single sign-on", help="What the button to sign in there says.")

if SMTP_URL:
    try:
        _mail = parse_smtp_url(SMTP_URL)
    except ValueError as _error:
        raise ImproperlyConfigured(f"SMTP_URL: {_error}") from None
    EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    EMAIL_HOST, EMAIL_PORT = _mail.host, _mail.port
    EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = _mail.user, _mail.password
    EMAIL_USE_SSL, EMAIL_USE_TLS = _mail.use_ssl, _mail.use_tls
    EMAIL_TIMEOUT = 15
else:
    EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"

ACCOUNT_ADAPTER = "chatsite.accounts.allauth_adapter.AccountAdapter"
ACCOUNT_FORMS = {
    "login": "chatsite.accounts.forms.SignInForm",
    "signup": "chatsite.accounts.forms.SignUpForm",
    "add_email": "chatsite.accounts.forms.ChangeEmailForm",
}
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = "mandatory" if SMTP_URL else "optional"
ACCOUNT_CHANGE_EMAIL = True  # one address for each person; a new one counts once it is confirmed
ACCOUNT_LOGIN_ON_EMAIL_CONFIRMATION = True
ACCOUNT_PREVENT_ENUMERATION = True
ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = SIGN_UP == "open"  # elsewhere a stranger has no use for an email that offers sign-up
ACCOUNT_REAUTHENTICATION_REQUIRED = True  # before the address is changed: who has it can reset the password
ACCOUNT_EMAIL_NOTIFICATIONS = bool(SMTP_URL)
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_DEFAULT_HTTP_PROTOCOL = SITE_SCHEME
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes", "webauthn"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_TOTP_ISSUER = SITE_NAME
MFA_ADAPTER = "chatsite.accounts.second_factors.adapter.MFAAdapter"
MFA_FORMS = {
    "add_webauthn": "chatsite.accounts.second_factors.passkeys.AddPasskeyForm",
    "edit_webauthn": "chatsite.accounts.second_factors.passkeys.RenamePasskeyForm",
    "authenticate_webauthn": "chatsite.accounts.second_factors.passkeys.UsePasskeyForm",
    "reauthenticate_webauthn": "chatsite.accounts.second_factors.passkeys.ReauthenticateByPasskeyForm",
    "login_webauthn": "chatsite.accounts.second_factors.passkeys.SignInByPasskeyForm",
}
MFA_RECOVERY_CODES_SHOW_ONCE = True
SOCIALACCOUNT_ADAPTER = "chatsite.accounts.openid_connect.adapter.SocialAccountAdapter"
SOCIALACCOUNT_FORMS = {"signup": "chatsite.accounts.forms.SocialSignUpForm"}
SOCIALACCOUNT_PROVIDERS = social_providers(
    server_url=OIDC_SERVER_URL, client_id=OIDC_CLIENT_ID, client_secret=OIDC_CLIENT_SECRET, name=OIDC_NAME
)
SOCIALACCOUNT_EMAIL_AUTHENTICATION_AUTO_CONNECT = True  # to the account with that address, as the adapter allows
SOCIALACCOUNT_STORE_TOKENS = False
# Wrong passwords are counted by `chatsite.accounts.sign_in`. This limit of allauth's is left for codes of second
# factors, which can be tried only by those who know the password. Its other limits are as they come; tests hold them.
ACCOUNT_RATE_LIMITS = {"login_failed": "5/5m/key"}
# The server has already put the visitor into REMOTE_ADDR, from TRUSTED_PROXIES only, so allauth must believe no header
# by itself.
ALLAUTH_TRUSTED_PROXY_COUNT = 0
ALLAUTH_TRUSTED_CLIENT_IP_HEADER = None
