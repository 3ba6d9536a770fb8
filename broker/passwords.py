"""Mosquitto's password hashes (``$7$``: PBKDF2-HMAC-SHA512), made and checked without mosquitto_passwd."""

import base64
import binascii
import hashlib
import hmac
import secrets

# Mosquitto's default. It hashes on its only thread at every CONNECT, and more iterations do not help long random
# passwords.
ITERATIONS = 101
# An upper limit, so that a damaged number cannot block us.
MAX_ITERATIONS = 1_000_000
# As mosquitto_passwd of 2.0; 2.1 takes any length.
SALT_BYTES = 12
PASSWORD_BYTES = 24


def new_password() -> str:
    """A fresh random password of 32 URL-safe characters."""
    return secrets.token_urlsafe(PASSWORD_BYTES)


def hash_password(password: str, salt: bytes | None = None) -> str:
    """``$7$<iterations>$<salt>$<hash>`` as ``mosquitto_passwd`` writes it; a fresh salt unless one is given."""
    salt = secrets.token_bytes(SALT_BYTES) if salt is None else salt
    return _encode(password, salt, ITERATIONS)


def matches(password: str, hashed: str) -> bool:
    """Whether ``hashed`` was made from ``password``; False also for anything that is not a hash."""
    try:
        empty, kind, iterations, salt, _ = hashed.split("$")
        if not 1 <= int(iterations) <= MAX_ITERATIONS:
            return False
        wanted = _encode(password, base64.b64decode(salt, validate=True), int(iterations))
    except (ValueError, binascii.Error):
        return False
    return (empty, kind) == ("", "7") and hmac.compare_digest(wanted.encode(), hashed.encode())


def _encode(password: str, salt: bytes, iterations: int) -> str:
    digest = hashlib.pbkdf2_hmac("sha512", password.encode(), salt, iterations)
    return f"$7${iterations}${base64.b64encode(salt).decode()}${base64.b64encode(digest).decode()}"
