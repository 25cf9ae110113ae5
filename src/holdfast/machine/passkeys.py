"""Passkeys: what a browser answers when it is asked to sign a text, or to make a key, and whether that holds.

The challenge is the SHA-256 of the text, so the text, the answer and the public key are all that anybody needs to check
it. Only this module imports `fido2`, and only where an answer is looked at.
"""

from __future__ import annotations

import json
import re
from _collections_abc import Mapping

from holdfast.core import remedies
from holdfast.core.remedy import Remedy
from holdfast.core.value import Any, Value
from holdfast.errors import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fido2.cose import CoseKey
    from fido2.webauthn import AuthenticatorData

ORIGIN = "http://holdfast.localhost:8414"
"""Where the page is. The host is a relying party of its own: a page on another port of localhost cannot ask for its
keys, and a page on another port of this host is told by its origin."""
ALGORITHMS = (-7, -8, -257)
"""ES256, EdDSA and RS256, as COSE numbers them."""
LARGEST = 1 << 16
_GET, _CREATE = "webauthn.get", "webauthn.create"
_BASE64URL = re.compile(r"[A-Za-z0-9_-]+")
_ORIGIN = re.compile(r"(http|https)://([a-z0-9-]+(?:\.[a-z0-9-]+)*)(?::[1-9][0-9]{0,4})?")
_NAME = re.compile(r"[^\W_](?:[\w .@'’-]{0,62}[\w)])?")


class Key(Value):
    """A passkey that may approve."""

    name: str
    credential: str
    """Its id, base64url, as are the public keys."""
    cose: str
    spki: str
    """The public key in DER, as `openssl` reads it."""
    rp_id: str
    origin: str
    """The page on which it was made: the only one on which it approves."""
    aaguid: str
    kept: str
    """`synced`, or `this device only`."""
    since: str


class Assertion(Value):
    """What a browser answers that was asked to sign; all base64url."""

    credential: str
    client_data: str
    authenticator_data: str
    signature: str


def rp_id(origin: str) -> str:
    """The relying party of a page: its host."""
    found = _ORIGIN.fullmatch(origin)
    if found is None:
        said = f"{origin[:100]!r} is not the address of a page, such as {ORIGIN}"
        raise Refused("bad_origin", said, remedy=remedies.page(), facts={"origin": origin[:100]})
    return found[2]


def checked_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        said = f"{name[:64]!r} is no name of a key: letters, digits, blanks and . @ ' ’ - _, at most 64 characters"
        raise Refused("bad_key_name", said, remedy=remedies.page(text="give it another name"), facts={})
    return name


def sha256(data: bytes) -> bytes:
    import hashlib

    return hashlib.sha256(data).digest()


def challenge(text: str) -> bytes:
    return sha256(text.encode())


def encoded(data: bytes) -> str:
    from base64 import urlsafe_b64encode

    return urlsafe_b64encode(data).rstrip(b"=").decode()


def decoded(text: object, what: str) -> bytes:
    """The bytes of a base64url text; refused where it is none."""
    from base64 import urlsafe_b64decode

    if not isinstance(text, str) or len(text) > LARGEST or not _BASE64URL.fullmatch(text) or len(text) % 4 == 1:
        raise bad(f"its {what} is no base64url")
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


def asking(text: str, keys: list[Key], origin: str) -> dict[str, Any]:
    """What `navigator.credentials.get` takes as `publicKey`, as JSON: bytes are base64url."""
    mine = [key for key in keys if key.origin == origin]
    return {
        "challenge": encoded(challenge(text)),
        "rpId": rp_id(origin),
        "allowCredentials": [{"type": "public-key", "id": key.credential} for key in mine],
        "userVerification": "required",
        "timeout": 300_000,
    }


def enrolling(name: str, known: list[Key], origin: str, nonce: bytes, user: bytes) -> dict[str, Any]:
    """What `navigator.credentials.create` takes as `publicKey`, as JSON: bytes are base64url."""
    return {
        "challenge": encoded(nonce),
        "rp": {"id": rp_id(origin), "name": "Holdfast"},
        "user": {"id": encoded(user), "name": checked_name(name), "displayName": name},
        "pubKeyCredParams": [{"type": "public-key", "alg": number} for number in ALGORITHMS],
        "excludeCredentials": [{"type": "public-key", "id": key.credential} for key in known if key.origin == origin],
        "authenticatorSelection": {"residentKey": "preferred", "userVerification": "required"},
        "attestation": "none",
        "timeout": 300_000,
    }


def assertion(answer: object) -> Assertion:
    """What a page sends of `navigator.credentials.get`: `toJSON()` of its result."""
    response = answer.get("response") if isinstance(answer, dict) else None
    if not isinstance(answer, dict) or not isinstance(response, dict):
        raise bad("it is not the answer of a browser")
    named = {"clientDataJSON": "client_data", "authenticatorData": "authenticator_data", "signature": "signature"}
    parts = {to: encoded(decoded(response.get(name), name)) for name, to in named.items()}
    return Assertion(credential=encoded(decoded(answer.get("id"), "id")), **parts)


def require(key: Key, text: str, given: Assertion) -> None:
    """Refuses what is not this key's signature of this text, given by a person who was verified, on its own page."""
    from cryptography.exceptions import InvalidSignature

    client_data = decoded(given.client_data, "client data")
    data = decoded(given.authenticator_data, "authenticator data")
    if given.credential != key.credential:
        raise bad("it is of another key")
    _require_client(client_data, _GET, challenge(text), key.origin)
    _require_authenticator(data, key.rp_id)
    cose = _cose(decoded(key.cose, "public key"))
    if encoded(_spki(cose)) != key.spki:
        raise bad("the two forms of its public key differ")
    try:
        cose.verify(data + sha256(client_data), decoded(given.signature, "signature"))
    except (InvalidSignature, ValueError):
        raise bad("its signature does not hold") from None


def enrolled(answer: object, name: str, origin: str, nonce: bytes, since: str) -> Key:
    """The key that a browser made: `toJSON()` of the result of `navigator.credentials.create`."""
    from fido2.webauthn import AttestationObject

    response = answer.get("response") if isinstance(answer, dict) else None
    if not isinstance(response, dict):
        raise bad("it is not the answer of a browser")
    _require_client(decoded(response.get("clientDataJSON"), "client data"), _CREATE, nonce, origin)
    try:
        found = AttestationObject(decoded(response.get("attestationObject"), "attestation object")).auth_data
    except (ValueError, TypeError, KeyError, IndexError, AttributeError):
        raise bad("its attestation object cannot be read") from None
    _require_authenticator(bytes(found), rp_id(origin))
    made = found.credential_data
    if made is None:
        raise bad("it has no key")
    from fido2 import cbor

    cose = cbor.encode(dict(made.public_key))
    return Key(
        name=checked_name(name),
        credential=encoded(made.credential_id),
        cose=encoded(cose),
        spki=encoded(_spki(_cose(cose))),
        rp_id=rp_id(origin),
        origin=origin,
        aaguid=str(made.aaguid),
        kept="synced" if found.is_backup_eligible() else "this device only",
        since=since,
    )


def _require_client(data: bytes, kind: str, expected: bytes, origin: str) -> None:
    """What the browser says: what it was asked for, by which page."""
    try:
        said = json.loads(data)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        raise bad("its client data is no JSON object")
    if said.get("type") != kind:
        raise bad(f"its type is not {kind}")
    if said.get("origin") != origin:
        raise bad(f"it was given on another page than {origin}")
    if said.get("crossOrigin") not in (None, False) or "topOrigin" in said:
        raise bad("it was given inside of another page")
    if said.get("challenge") != encoded(expected):
        raise bad("it is of another text")


def _require_authenticator(data: bytes, party: str) -> AuthenticatorData:
    """What the key says: for whom it answers, and that a person was there whom it verified."""
    from fido2.webauthn import AuthenticatorData

    try:
        found = AuthenticatorData(data)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError):
        raise bad("its authenticator data cannot be read") from None
    if found.rp_id_hash != sha256(party.encode()):
        raise bad(f"it is for another relying party than {party}")
    if not found.is_user_present():
        raise bad("nobody touched the key")
    if not found.is_user_verified():
        raise bad("the key did not verify who touched it")
    return found


def _cose(data: bytes) -> CoseKey:
    from fido2 import cbor
    from fido2.cose import CoseKey

    try:
        said = cbor.decode(data)
        found = CoseKey.parse(said) if isinstance(said, Mapping) else CoseKey()
    except (ValueError, TypeError, KeyError, IndexError):
        raise bad("its public key cannot be read") from None
    if found.get(3) not in ALGORITHMS:
        raise bad("its algorithm is none of ES256, EdDSA and RS256")
    return found


def _spki(key: CoseKey) -> bytes:
    """The public key in DER."""
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    public: ec.EllipticCurvePublicKey | ed25519.Ed25519PublicKey | rsa.RSAPublicKey
    try:
        if key[3] == -7:
            x, y = int.from_bytes(key[-2], "big"), int.from_bytes(key[-3], "big")
            public = ec.EllipticCurvePublicNumbers(x, y, ec.SECP256R1()).public_key()
        elif key[3] == -8:
            public = ed25519.Ed25519PublicKey.from_public_bytes(key[-2])
        else:
            numbers = rsa.RSAPublicNumbers(int.from_bytes(key[-2], "big"), int.from_bytes(key[-1], "big"))
            public = numbers.public_key()
            if public.key_size < 2048:
                raise bad("its public key is too short")
    except (ValueError, TypeError, KeyError):
        raise bad("its public key cannot be read") from None
    return public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)


def bad(reason: str, *remedy: Remedy) -> Refused:
    said = f"the passkey's answer does not count: {reason}"
    return Refused("bad_passkey", said, remedy=remedy or remedies.page(), facts={"reason": reason})
