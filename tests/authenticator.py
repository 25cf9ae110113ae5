"""An authenticator and the browser before it: real keys, real signatures over real WebAuthn data, and no hardware."""

from __future__ import annotations

import hashlib
import json
import os
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from fido2.cose import ES256, RS256, EdDSA
from fido2.webauthn import AttestationObject, AttestedCredentialData, AuthenticatorData

from holdfast.machine.passkeys import ORIGIN, encoded

FLAG = AuthenticatorData.FLAG


class Authenticator:
    """One key. What a test changes of it, it lies about: its page, its relying party, whether it verified anybody."""

    def __init__(self, kind: str = "EdDSA", origin: str = ORIGIN, *, synced: bool = False) -> None:
        self.kind = kind
        self.origin = origin
        self.party = origin.split("://")[1].split(":", maxsplit=1)[0]
        self.credential = os.urandom(16)
        self.flags = FLAG.UP | FLAG.UV | (FLAG.BE | FLAG.BS if synced else FLAG(0))
        self.private: Any = {
            "EdDSA": ed25519.Ed25519PrivateKey.generate,
            "ES256": lambda: ec.generate_private_key(ec.SECP256R1()),
            "RS256": lambda: rsa.generate_private_key(65537, 2048),
        }[kind]()

    @property
    def cose(self) -> Any:
        made: Any = {"EdDSA": EdDSA, "ES256": ES256, "RS256": RS256}[self.kind]
        return made.from_cryptography_key(self.private.public_key())

    def create(self, options: Any, **lies: Any) -> dict[str, Any]:
        """What `navigator.credentials.create` returns, as JSON."""
        assert options["authenticatorSelection"]["userVerification"] == "required"
        made = AttestedCredentialData.create(bytes(16), self.credential, self.cose)
        data = self._data(FLAG.AT, bytes(made), **lies)
        client = self._client("webauthn.create", options["challenge"], **lies)
        attestation = AttestationObject.create("none", AuthenticatorData(data), {})
        response = {"clientDataJSON": encoded(client), "attestationObject": encoded(bytes(attestation))}
        return {"id": encoded(self.credential), "type": "public-key", "response": response}

    def get(self, options: Any, **lies: Any) -> dict[str, Any]:
        """What `navigator.credentials.get` returns, as JSON."""
        assert options["userVerification"] == "required"
        data, client = self._data(**lies), self._client("webauthn.get", options["challenge"], **lies)
        response = {
            "clientDataJSON": encoded(client),
            "authenticatorData": encoded(data),
            "signature": encoded(self.sign(data + hashlib.sha256(client).digest())),
        }
        return {"id": lies.get("id", encoded(self.credential)), "type": "public-key", "response": response}

    def sign(self, message: bytes) -> bytes:
        if self.kind == "ES256":
            return self.private.sign(message, ec.ECDSA(hashes.SHA256()))
        if self.kind == "RS256":
            return self.private.sign(message, padding.PKCS1v15(), hashes.SHA256())
        return self.private.sign(message)

    def _data(self, more: int = 0, rest: bytes = b"", **lies: Any) -> bytes:
        flags = lies.get("flags", self.flags) | more
        party = hashlib.sha256(lies.get("party", self.party).encode()).digest()
        return party + bytes([flags]) + (7).to_bytes(4, "big") + rest

    def _client(self, kind: str, challenge: str, **lies: Any) -> bytes:
        said = {"type": kind, "challenge": challenge, "origin": self.origin, "crossOrigin": False}
        return json.dumps({**said, **lies.get("client", {})}, separators=(",", ":")).encode()
