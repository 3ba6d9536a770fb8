"""Changes certificates of a test installation."""

import subprocess
from pathlib import Path


def resign(tls: Path, days: int, authority: Path = Path()) -> None:
    """Re-sign the server certificate with `days` of validity, otherwise unchanged."""
    ask = "x509 -x509toreq -copy_extensions copyall -in server.crt -key server.key -out request"
    ca = f"-CA {authority / 'ca.crt'} -CAkey {authority / 'ca.key'}"
    sign = f"x509 -req -copy_extensions copyall -in request {ca} -days {days} -out server.new"
    for command in (ask, sign):
        subprocess.run(["openssl", *command.split()], cwd=tls, check=True, capture_output=True)
    (tls / "server.new").replace(tls / "server.crt")
