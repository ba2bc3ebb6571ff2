"""A passkey as it lies in the database, made without a browser."""

from __future__ import annotations

from hashlib import sha256

from allauth.mfa.models import Authenticator
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


def make_passkey(user: User) -> Authenticator:
    """Store a passkey of *user* whose private key nobody has."""
    public_key = ES256.from_cryptography_key(ec.generate_private_key(ec.SECP256R1()).public_key())
    identifier = user.pk.to_bytes(16, "big")
    credential = AttestedCredentialData.create(Aaguid.NONE, identifier, public_key)
    flags = AuthenticatorData.FLAG.UP | AuthenticatorData.FLAG.AT
    auth_data = AuthenticatorData.create(sha256(b"localhost").digest(), flags, 0, credential)
    client_data = CollectedClientData.create(CollectedClientData.TYPE.CREATE, b"challenge", "http://localhost")
    attestation = AttestationObject.create("none", auth_data, {})
    response = RegistrationResponse(
        raw_id=identifier,
        response=AuthenticatorAttestationResponse(client_data=client_data, attestation_object=attestation),
    )
    stored = {"name": "Key", "credential": {**response, "id": websafe_encode(identifier)}}
    return Authenticator.objects.create(user=user, type=Authenticator.Type.WEBAUTHN, data=stored)
