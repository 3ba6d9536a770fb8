"""`make campus-files`: the file of hosts, and what each host's folder has and has not."""

import shutil
import ssl
import subprocess
import tomllib
from pathlib import Path

import pytest
from campus import hosts
from campus.files import OPERATOR, campus_files
from dotenv import dotenv_values
from stack.errors import StackError
from stack.layout import ROOT

ANNEX = ROOT / "flows" / "building" / "annex.json"
CAMPUS = f"""
[entry]
host = "10.0.0.10"
names = ["hacs.example.org"]

[[nodes]]
host = "10.0.0.11"
[[nodes]]
host = "10.0.0.12"
[[nodes]]
host = "node-3.example.org"

[[sites]]
name = "north"
host = "north.example.org"
building = "{ANNEX}"

[[sites]]
name = "south"
host = "10.0.0.22"
https_port = 443
building = "{ANNEX}"
"""


def write(folder: Path, text: str) -> Path:
    file = folder / "hosts.toml"
    file.write_text(text)
    return file


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folders of CAMPUS, made once."""
    base = tmp_path_factory.mktemp("campus-files")
    campus_files(hosts.read(write(base, CAMPUS)), base / "made")
    return base / "made"


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_shipped_file_has_all_parts_on_one_machine() -> None:
    campus = hosts.read(hosts.SHIPPED)
    assert [node.name for node in campus.nodes] == ["nats-1", "nats-2", "nats-3"]
    assert [site.name for site in campus.sites] == ["north", "south"]
    assert {campus.entry.host, *(node.host for node in campus.nodes)} == {"172.17.0.1"}
    assert {site.host for site in campus.sites} == {"172.17.0.1"}
    assert campus.queue.replicas == 3


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (('host = "10.0.0.12"', "route_port = 6222"), "nodes[1].host"),
        (('[[nodes]]\nhost = "10.0.0.12"\n', ""), "nodes: 2"),
        (('name = "south"', 'name = "north"'), "the name north is there twice"),
        (('name = "south"', 'name = "nats-1"'), "is the name of another folder"),
        (('host = "10.0.0.12"', 'host = "10.0.0.11"'), "10.0.0.11 has port 6222 twice"),
        (("[entry]", "[broker]\nreplicas = 5\n[entry]"), "broker.replicas: 5"),
        (("https_port = 443", "https = 443"), "has no key 'https'"),
        ((f'"{ANNEX}"', '"missing.json"'), "sites[0].building"),
    ],
)
def test_faults_are_named(tmp_path: Path, change: tuple[str, str], fault: str) -> None:
    with pytest.raises(StackError) as refused:
        hosts.read(write(tmp_path, CAMPUS.replace(*change)))
    assert fault in str(refused.value)


def test_no_host_has_an_authoritys_key_or_the_secrets_of_another_role(folder: Path) -> None:
    operator = files_of(folder / OPERATOR)
    private = {name: operator[f"broker/{name}/ca.key"] for name in ("tls", "https")}
    site_secrets = dotenv_values(folder / OPERATOR / "north" / ".env")
    password = str(site_secrets["MQTT_NODERED_PASSWORD"]).encode()
    issuer = operator["broker/nats/keys.json"].split(b'"issuer": "')[1].split(b'"')[0]
    for host in ("nats-1", "nats-2", "nats-3", "north", "south", "entry"):
        whole = b"\0".join(files_of(folder / host).values())
        assert not any(key in whole for key in private.values()), host
        assert (issuer in whole) == host.startswith("nats-"), host
        assert (password in whole) == (host == "north"), host
        assert (operator["entry/north.key"].strip() in whole) == (host == "entry"), host
        for other in ("nats-1", "nats-2", "nats-3"):
            key = operator[f"broker/nodes/{other}/server.key"]
            assert (key in whole) == (host == other), f"{host} has the key of {other}"


def test_secrets_are_for_their_owner_alone(folder: Path) -> None:
    for host in ("nats-1", "north", "entry"):
        assert (folder / host / ".env").stat().st_mode & 0o777 == 0o600
        assert (folder / host / "files").stat().st_mode & 0o777 == 0o700
        assert all(path.stat().st_mode & 0o077 == 0 for path in (folder / host / "files").rglob("*") if path.is_file())


def test_certificates_name_the_host_and_what_receivers_and_callers_connect_to(folder: Path) -> None:
    def names(certificate: Path) -> set[str]:
        shown = subprocess.run(["openssl", "x509", "-noout", "-ext", "subjectAltName", "-in", certificate],
                               capture_output=True, text=True, check=True).stdout  # fmt: skip
        return {one.strip().split(":", 1)[1] for one in shown.split("\n", 1)[1].split(",")}

    node = folder / "nats-3" / "files" / "tls"
    assert names(node / "server.crt") == {"node-3.example.org", "10.0.0.10", "hacs.example.org"}
    assert names(folder / "north" / "files" / "https" / "server.crt") == {"north.example.org"}
    pair = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    pair.load_cert_chain(folder / "entry" / "files" / "haproxy" / "entry.pem")
    # A site's key opens nothing at the broker: it has another authority.
    assert files_of(folder / "entry")["files/entry/https-ca.crt"] != (node / "ca.crt").read_bytes()


def test_the_entry_asks_each_site_over_https_and_trusts_nobody_without_a_key(folder: Path) -> None:
    entry = tomllib.loads((folder / "entry" / "files" / "entry" / "campus.toml").read_text())
    assert entry["entry"]["trusted_nets"] == []
    assert [(one["name"], one["url"]) for one in entry["sites"]] == [
        ("north", "https://north.example.org:8443"),
        ("south", "https://10.0.0.22:443"),
    ]


def test_nodes_listen_inside_the_container_and_advertise_their_host(folder: Path) -> None:
    text = (folder / "nats-3" / "files" / "nats" / "nats.conf").read_text()
    assert 'listen: "0.0.0.0:6222"\n  advertise: "node-3.example.org:6222"' in text
    assert 'listen: "127.0.0.1:4222"' in text


def test_again_nothing_changes_and_a_site_that_is_gone_goes_everywhere(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "made"
    shutil.copytree(folder, copy)
    before = {host: files_of(copy / host) for host in ("nats-1", "north", "entry")}
    campus_files(hosts.read(write(tmp_path, CAMPUS)), copy)
    assert {host: files_of(copy / host) for host in before} == before

    without = CAMPUS[: CAMPUS.rindex("[[sites]]")]
    campus_files(hosts.read(write(tmp_path, without)), copy)
    assert not (copy / "south").exists()
    assert not any("south" in name for name in [*files_of(copy / "nats-1"), *files_of(copy / "entry")])
    assert '"south"' not in (copy / "nats-1" / "files" / "nats" / "nats.conf").read_text()
