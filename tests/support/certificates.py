"""Changes and reads certificates of a test installation."""

import ssl
import subprocess
import time
from pathlib import Path

DAY_S = 86_400


def shown_days(port: int, authority: Path) -> float:
    """Days of validity of the certificate on the receivers' port."""
    pem = ssl.get_server_certificate(("127.0.0.1", port), ca_certs=str(authority))
    end = subprocess.run(
        ["openssl", "x509", "-noout", "-enddate"], input=pem, capture_output=True, text=True, check=True
    )
    return (ssl.cert_time_to_seconds(end.stdout.strip().removeprefix("notAfter=")) - time.time()) / DAY_S


def resign(tls: Path, days: int, authority: Path = Path()) -> None:
    """Re-sign the server certificate with `days` of validity, otherwise unchanged."""
    ask = "x509 -x509toreq -copy_extensions copyall -in server.crt -key server.key -out request"
    ca = f"-CA {authority / 'ca.crt'} -CAkey {authority / 'ca.key'}"
    sign = f"x509 -req -copy_extensions copyall -in request {ca} -days {days} -out server.new"
    for command in (ask, sign):
        subprocess.run(["openssl", *command.split()], cwd=tls, check=True, capture_output=True)
    (tls / "server.new").replace(tls / "server.crt")
