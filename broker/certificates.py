"""The installation's own authority and its server certificates, made with the openssl command (ECDSA P-256).

``tls`` has the authority and the broker's certificate, ``https`` has Node-RED's certificate.
"""

import ipaddress
import math
import secrets
import shutil
import ssl
import stat
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

# Receivers pin the authority, so it is valid for long; the server's certificate is renewed under it.
CA_DAYS = 3650
SERVER_DAYS = 397
RENEW_DAYS = 30

_EC = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]


class CertificateError(Exception):
    """openssl is missing or failed; the message says what to do."""


def ensure_certificates(
    folder: Path, names: Sequence[str], others: Sequence[str] = (), *, authority: Path | None = None
) -> list[str]:
    """Make missing files and renew due ones; returns a sentence for each change ([] without changes).

    Afterwards ``folder`` has server.crt and server.key, and without another ``authority`` folder also ca.crt and
    ca.key. Files have mode 0600; in a folder with the setgid bit its group may read the certificate and its key.
    The server certificate is made again, for ``names`` and ``others``, if it has less than RENEW_DAYS left, does not
    match the authority or lacks one of ``names``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    authority_folder = authority or folder
    done = []
    ca, ca_key, server = authority_folder / "ca.crt", authority_folder / "ca.key", folder / "server.crt"
    if not (ca.exists() and ca_key.exists()):
        _make_authority(ca, ca_key)
        done.append(f"made a certificate authority: give {ca} to every receiver that connects over TLS")
    if authority is None:
        done += _warning(ca)
    if not (server.exists() and (folder / "server.key").exists() and _is_valid(server, ca, names)):
        _make_server(folder, [*names, *others], authority_folder)
        done.append(f"made a server certificate for {', '.join([*names, *others])}")
    return done


def renew_certificate(folder: Path, *, authority: Path | None = None) -> list[str]:
    """Renew the server certificate of ``folder`` with its present names, if due; returns like `ensure_certificates`.

    Raises:
        CertificateError: openssl is missing or failed, or there is no certificate.
    """
    authority_folder = authority or folder
    ca, server = authority_folder / "ca.crt", folder / "server.crt"
    if not (ca.exists() and server.exists()):
        raise CertificateError(f"there is no certificate in {folder} yet; `make up` makes one")
    done = _warning(ca) if authority is None else []
    names = _names(server)
    if not _is_valid(server, ca, names):
        _make_server(folder, names, authority_folder)
        done.append(f"made a server certificate for {', '.join(names)}")
    return done


def _warning(ca: Path) -> list[str]:
    if _days_left(ca) > RENEW_DAYS:
        return []
    return [f"WARNING: {ca} ends soon; remove the folder {ca.parent} and give receivers the new authority"]


def _is_valid(server: Path, ca: Path, names: Sequence[str]) -> bool:
    verified = subprocess.run(
        [_tool(), "verify", "-CAfile", str(ca), str(server)], capture_output=True, check=False, text=True
    )
    key = server.with_name("server.key")
    keys = {_openssl("x509", "-noout", "-pubkey", "-in", str(server)), _openssl("pkey", "-pubout", "-in", str(key))}
    # No renewal can outlast the authority.
    lasts = _days_left(server) >= min(RENEW_DAYS, _days_left(ca) - 1)
    named = {_normal(name) for name in names} <= set(_names(server))
    return verified.returncode == 0 and len(keys) == 1 and lasts and named


def _names(server: Path) -> list[str]:
    """The names and addresses of a certificate."""
    shown = _openssl("x509", "-noout", "-ext", "subjectAltName", "-in", str(server))
    return [entry.split(":", 1)[1].strip() for entry in shown.split("\n", 1)[1].split(",") if ":" in entry]


def _days_left(certificate: Path) -> float:
    shown = _openssl("x509", "-noout", "-enddate", "-in", str(certificate))
    return (ssl.cert_time_to_seconds(shown.strip().removeprefix("notAfter=")) - time.time()) / 86_400


def _make_authority(ca: Path, key: Path) -> None:
    extensions = ["basicConstraints=critical,CA:TRUE,pathlen:0", "keyUsage=critical,keyCertSign,cRLSign"]
    arguments = [argument for extension in extensions for argument in ("-addext", extension)]
    subject = ["-subj", "/O=SDA Locator/CN=SDA Locator broker authority"]
    _openssl("req", "-x509", *_EC, "-keyout", str(key), "-out", str(ca), "-days", str(CA_DAYS), *subject, *arguments)
    key.chmod(0o600)


def _make_server(folder: Path, names: Sequence[str], authority: Path) -> None:
    alternatives = ",".join(("IP:" if _is_address(name) else "DNS:") + name for name in names)
    days = max(
        1, min(SERVER_DAYS, math.floor(_days_left(authority / "ca.crt")))
    )  # so its end also shows the authority's end
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        request, extensions = Path(scratch, "server.csr"), Path(scratch, "extensions")
        key, certificate = Path(scratch, "server.key"), Path(scratch, "server.crt")
        extensions.write_text(
            f"subjectAltName={alternatives}\nbasicConstraints=critical,CA:FALSE\n"
            "keyUsage=critical,digitalSignature\n"
            "extendedKeyUsage=serverAuth,clientAuth\n"  # the nodes of a cluster are each other's clients
        )
        _openssl("req", "-new", *_EC, "-keyout", str(key), "-out", str(request), "-subj", "/CN=SDA Locator")
        signed = ["-CA", str(authority / "ca.crt"), "-CAkey", str(authority / "ca.key")]
        life = ["-days", str(days), "-set_serial", f"0x{secrets.token_hex(8)}"]
        files = ["-in", str(request), "-out", str(certificate), "-extfile", str(extensions)]
        _openssl("x509", "-req", *signed, *life, *files)
        shared = folder.stat().st_mode & stat.S_ISGID
        for path in (key, certificate):
            path.chmod(0o640 if shared else 0o600)
        key.replace(folder / "server.key")
        certificate.replace(folder / "server.crt")


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _normal(name: str) -> str:
    """``name`` as openssl prints it back: IPv6 addresses in full, without leading zeros, upper-case."""
    if not _is_address(name):
        return name
    address = ipaddress.ip_address(name)
    if address.version == 4:
        return str(address)
    return ":".join(f"{int(part, 16):X}" for part in address.exploded.split(":"))


def _tool() -> str:
    tool = shutil.which("openssl")
    if tool is None:
        raise CertificateError("the openssl command is missing; install it (Debian: apt-get install openssl)")
    return tool


def _openssl(*arguments: str) -> str:
    result = subprocess.run([_tool(), *arguments], capture_output=True, check=False, text=True)
    if result.returncode != 0:
        raise CertificateError(f"openssl {arguments[0]} failed: {result.stderr.strip()}")
    return result.stdout
