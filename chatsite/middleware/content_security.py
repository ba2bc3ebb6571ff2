"""Content-Security-Policy: what a page of this site may load. Everything comes from the site itself."""

from csp.constants import NONCE, NONE, SELF, UNSAFE_EVAL, UNSAFE_INLINE

DIRECTIVES = {
    "default-src": [NONE],
    "script-src": [SELF, NONCE],
    "style-src": [SELF],
    "img-src": [SELF, "data:"],
    "font-src": [SELF],
    "connect-src": [SELF],
    "form-action": [SELF],
    "base-uri": [NONE],
    "frame-ancestors": [NONE],
    "manifest-src": [SELF],
}

# django-unfold builds on Alpine.js, which evaluates the expressions in its attributes, and writes colours inline.
ADMIN_DIRECTIVES = {
    **DIRECTIVES,
    "script-src": [SELF, UNSAFE_EVAL],
    "style-src": [SELF, UNSAFE_INLINE],
}

CONTENT_SECURITY_POLICY = {"DIRECTIVES": DIRECTIVES}
