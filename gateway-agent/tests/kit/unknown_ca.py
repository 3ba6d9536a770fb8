"""A certificate of a CA that the broker does not trust."""

import subprocess
from pathlib import Path


def self_signed(folder: Path) -> Path:
    """Make a self-signed certificate."""
    path = folder / "other-ca.crt"
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
        "-days",
        "2",
    ]
    names = ["-subj", "/CN=other", "-keyout", str(folder / "other.key"), "-out", str(path)]
    subprocess.run([*command, *names], check=True, capture_output=True)
    return path
