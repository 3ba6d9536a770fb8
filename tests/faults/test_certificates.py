"""The broker's certificate is renewed while everything runs; a failed renewal is reported."""

import os
import re
import ssl
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import psutil
import pytest
from ingest.private_broker import PrivateBroker, private_broker
from stack.layout import ROOT
from support import web
from support.certificates import DAY_S, resign, shown_days
from support.running import RunningStack
from support.stack_client import eventually

RENEW = [sys.executable, str(ROOT / "broker" / "renew.py")]


def test_the_certificates_expiry_is_a_metric(stack: RunningStack) -> None:
    def reported() -> float:
        found = re.search(
            r"^sda_broker_certificate_expiry_timestamp_seconds (\S+)$",
            web.get(f"{stack.http_url}/metrics").text,
            re.MULTILINE,
        )
        return float(found[1]) if found else 0

    days = (eventually(reported, what="the figure") - time.time()) / DAY_S
    assert 300 < days < 398


def test_a_running_stack_renews_and_uses_its_certificate(stack: RunningStack) -> None:
    broker = stack.data_dir / "broker"
    authority = (broker / "tls" / "ca.crt").read_bytes()
    pid = stack.pid("mosquitto")

    def shown() -> float:
        return shown_days(stack.ports.mqtts, broker / "tls" / "ca.crt")

    resign(broker / "tls", days=29)
    eventually(
        lambda: shown() == pytest.approx(29, abs=1), within_s=10, what="a broker with the certificate that ends soon"
    )
    stack.stop("certificates")
    stack.start("certificates")  # it checks at its start and every day
    eventually(lambda: shown() > 300, within_s=60, what="a broker with the new certificate")
    assert (broker / "tls" / "ca.crt").read_bytes() == authority
    assert stack.pid("mosquitto") == pid
    stack.wait_until_healthy()


def test_mosquitto_loads_a_renewed_certificate_and_keeps_its_connections(tmp_path: Path) -> None:
    with private_broker(tmp_path / "broker") as broker:
        password = broker.accounts("add", "gateway", "pi-1")
        authority = broker.folder / "tls" / "ca.crt"
        with broker.session("pi-1", password, tls=True) as session:
            resign(broker.folder / "tls", days=29)
            eventually(lambda: shown_days(broker.tls_port, authority) < 30, within_s=10, what="the one that ends soon")
            renew_once(broker.folder)
            eventually(lambda: shown_days(broker.tls_port, authority) > 300, within_s=10, what="the new one")
            session.publish("sda/v1/gateway/pi-1/health", payload=b"{}")
            assert session.losses == []
        watcher = psutil.Process(broker.pid).children()
        broker.stop()
        assert psutil.wait_procs(watcher, 5)[1] == []
        assert not (broker.folder / "mosquitto.applied").exists()


def test_a_renewal_keeps_the_names_and_replaces_a_mismatched_key(tmp_path: Path) -> None:
    broker = PrivateBroker(tmp_path / "broker")
    broker.provision("--name", "broker.example", "--name", "fe80::1")
    tls = broker.folder / "tls"
    first = (tls / "server.crt").read_bytes()
    renew_once(broker.folder)
    assert (tls / "server.crt").read_bytes() == first
    another = "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out server.key"
    subprocess.run(another.split(), cwd=tls, check=True, capture_output=True)
    assert "broker.example" in renew_once(broker.folder)
    assert broker.provision("--name", "broker.example", "--name", "fe80::1") == "broker: nothing to change\n"


def test_a_certificate_ends_with_its_authority_without_daily_renewals(tmp_path: Path) -> None:
    broker = PrivateBroker(tmp_path / "broker")
    broker.provision()
    tls = broker.folder / "tls"
    subprocess.run(
        ["openssl", "x509", "-in", "ca.crt", "-signkey", "ca.key", "-days", "20", "-out", "ca.new"],
        cwd=tls, check=True, capture_output=True,
    )  # fmt: skip
    (tls / "ca.new").replace(tls / "ca.crt")
    resign(tls, days=2)
    assert "WARNING" in renew_once(broker.folder)
    second = (tls / "server.crt").read_bytes()
    assert "WARNING" in renew_once(broker.folder)
    assert (tls / "server.crt").read_bytes() == second


def test_a_renewal_without_a_certificate_reports_the_remedy(tmp_path: Path) -> None:
    assert "`make up` makes one" in renew_once(tmp_path)


def renew_once(folder: Path) -> str:
    """Output of one run of renew.py."""
    with subprocess.Popen(
        [*RENEW, "--data", str(folder), "--once"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as running:
        return running.communicate(timeout=30)[0]


def test_https_is_renewed_without_interruption(stack: RunningStack) -> None:
    https = stack.data_dir / "broker" / "https"
    port = stack.ports.https

    def shown() -> float:
        return shown_days(port, stack.authority)

    resign(https, days=29, authority=stack.authority.parent)
    eventually(lambda: shown() < 30, within_s=30, what="HTTPS with the certificate that ends soon")
    context = ssl.create_default_context(cafile=str(stack.authority))
    with web.Client(transport=httpx.HTTPTransport(verify=context), base_url=f"https://localhost:{port}") as caller:
        stack.stop("certificates")

        def connection() -> object:
            return caller.get("/health").extensions["network_stream"].get_extra_info("socket").getsockname()

        before = connection()
        threading.Thread(target=stack.start, args=["certificates"]).start()  # it checks at its start and every day
        seen = set()

        def renewed() -> bool:
            seen.add(connection())
            return shown() > 300

        eventually(renewed, within_s=60, what="HTTPS with the new certificate")
        assert seen | {connection()} == {before}, "who was connected was let go"
    eventually(lambda: web.get(f"{stack.http_url}/health").json()["parts"]["https"] == {"status": "up"})
    found = re.search(
        r"^sda_https_certificate_expiry_timestamp_seconds (\S+)$",
        web.get(f"{stack.http_url}/metrics").text,
        re.MULTILINE,
    )
    assert found
    assert (float(found[1]) - time.time()) / DAY_S > 300


def test_an_invalid_https_certificate_is_reported_and_the_old_one_stays(stack: RunningStack) -> None:
    key = stack.data_dir / "broker" / "https" / "server.key"
    good = key.read_bytes()

    def reported() -> dict[str, str]:
        part: dict[str, str] = web.get(f"{stack.http_url}/health").json()["parts"]["https"]
        return part

    key.write_text("no key")
    try:
        eventually(lambda: reported()["status"] == "degraded", within_s=30, what="https degraded")
        assert "server.key cannot be used" in reported()["reason"]
        assert shown_days(stack.ports.https, stack.authority) > 0
    finally:
        key.write_bytes(good)
    eventually(lambda: reported()["status"] == "up", within_s=30, what="https up again")


def test_the_https_certificate_is_readable_for_the_configured_group(tmp_path: Path) -> None:
    broker = PrivateBroker(tmp_path / "broker")
    gid = os.getgid()
    said = broker.provision("--https", "--https-gid", str(gid))
    assert "HTTPS: made a server certificate" in said
    https = broker.folder / "https"
    assert stat.S_IMODE(https.stat().st_mode) == 0o2750
    resign(https, days=29, authority=broker.folder / "tls")
    first = (https / "server.crt").read_bytes()
    assert "made a server certificate" in renew_once(broker.folder)
    assert (https / "server.crt").read_bytes() != first
    modes = {name: stat.S_IMODE((https / name).stat().st_mode) for name in ("server.crt", "server.key")}
    assert modes == {"server.crt": 0o640, "server.key": 0o640}
    assert (https / "server.key").stat().st_gid == gid
    assert broker.provision("--https", "--https-gid", str(gid)) == "broker: nothing to change\n"
