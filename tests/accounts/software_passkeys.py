"""Passkeys made and used without a browser: as they lie in the database, and what a browser would answer."""

from __future__ import annotations

from hashlib import sha256

from allauth.account.utils import user_pk_to_url_str
from allauth.mfa.models import Authenticator
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from fido2.cose import ES256
from fido2.utils import websafe_encode
from fido2.webauthn import (
    Aaguid,
    AttestationObject,
    AttestedCredentialData,
    AuthenticatorAttestationResponse,
    AuthenticatorData,
    CollectedClientData,
    RegistrationResponse,
)

from chatsite.accounts.models import User

FLAG = AuthenticatorData.FLAG
ORIGIN = "http://localhost"
RP_ID_HASH = sha256(b"localhost").digest()


def make_passkey(user: User) -> Authenticator:
    """Store a passkey of *user* whose private key is thrown away."""
    identifier = user.pk.to_bytes(16, "big")
    stored = {"name": "Key", "credential": answer_to_create(identifier, ec.generate_private_key(ec.SECP256R1()))}
    return Authenticator.objects.create(user=user, type=Authenticator.Type.WEBAUTHN, data=stored)


def answer_to_create(
    identifier: bytes,
    private_key: ec.EllipticCurvePrivateKey,
    *,
    challenge: bytes = b"challenge",
    verified: bool = False,
) -> dict:
    """Return what a browser answers when a passkey was made; *verified*: after a look at the finger."""
    public_key = ES256.from_cryptography_key(private_key.public_key())
    credential = AttestedCredentialData.create(Aaguid.NONE, identifier, public_key)
    flags = FLAG.UP | FLAG.AT | (FLAG.UV if verified else FLAG(0))
    auth_data = AuthenticatorData.create(RP_ID_HASH, flags, 0, credential)
    client_data = CollectedClientData.create(CollectedClientData.TYPE.CREATE, challenge, ORIGIN)
    attestation = AttestationObject.create("none", auth_data, {})
    response = RegistrationResponse(
        raw_id=identifier,
        response=AuthenticatorAttestationResponse(client_data=client_data, attestation_object=attestation),
    )
    return {**response, "id": websafe_encode(identifier)}


def answer_to_get(
    identifier: bytes, private_key: ec.EllipticCurvePrivateKey, *, challenge: bytes, user: User, verified: bool
) -> dict:
    """Return what a browser answers when the passkey was used to sign in."""
    client_data = CollectedClientData.create(CollectedClientData.TYPE.GET, challenge, ORIGIN)
    auth_data = AuthenticatorData.create(RP_ID_HASH, FLAG.UP | (FLAG.UV if verified else FLAG(0)), 0)
    signature = private_key.sign(auth_data + client_data.hash, ec.ECDSA(hashes.SHA256()))
    written = {"clientDataJSON": client_data, "authenticatorData": auth_data, "signature": signature}
    response = {name: websafe_encode(value) for name, value in written.items()}
    handle = websafe_encode(user_pk_to_url_str(user).encode())
    raw_id = websafe_encode(identifier)
    return {"id": raw_id, "rawId": raw_id, "type": "public-key", "response": {**response, "userHandle": handle}}
