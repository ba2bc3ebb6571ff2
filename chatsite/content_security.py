"""Content-Security-Policy: what a page of this site may load. Everything comes from the site itself."""

from csp.constants import NONCE, NONE, SELF

CONTENT_SECURITY_POLICY = {
    # The admin's theme builds on Alpine.js, which evaluates expressions; it sets its own policy, see the middleware.
    "DIRECTIVES": {
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
}
