"""An issuer of JSON web tokens."""

from __future__ import annotations

import base64
import json
import time

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa


class Issuer:
    """Signs tokens with a key of its own (RS256)."""

    def __init__(self, name: str, audience: str) -> None:
        self.name, self.audience = name, audience
        self._key = rsa.generate_private_key(public_exponent=65537, key_size=2048)

    def keys(self) -> str:
        """The public key as a JSON Web Key Set (RFC 7517)."""
        numbers = self._key.public_key().public_numbers()
        values = {
            name: _url_safe(value.to_bytes((value.bit_length() + 7) // 8))
            for name, value in (("n", numbers.n), ("e", numbers.e))
        }
        return json.dumps({"keys": [{"kty": "RSA", "alg": "RS256", "use": "sig", "kid": "one", **values}]})

    def token(self, **claims: object) -> str:
        """A token that is valid for ten minutes, with these claims."""
        header = {"alg": "RS256", "typ": "JWT", "kid": "one"}
        content = {"iss": self.name, "aud": self.audience, "sub": "somebody", "exp": int(time.time()) + 600, **claims}
        text = ".".join(_url_safe(json.dumps(part).encode()) for part in (header, content))
        signature = self._key.sign(text.encode(), padding.PKCS1v15(), hashes.SHA256())
        return f"{text}.{_url_safe(signature)}"


def _url_safe(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()
