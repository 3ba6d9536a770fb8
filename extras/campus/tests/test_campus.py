"""`make campus`: its campus.toml, its ports, its folders, HAProxy's configuration."""

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from campus import haproxy, topology
from campus.run import SiteEndpoint, campus_toml, chosen, site_settings
from campus.stores import SECOND_PORT_KEYS
from campus.topology import FIRST_PORT, SHIPPED, Topology
from stack.errors import StackError
from stack.layout import ROOT
from stack.settings import PORT_KEYS

BUILDING = ROOT / "flows" / "building" / "annex.json"


def read(folder: Path, text: str) -> Topology:
    file = folder / "campus.toml"
    file.write_text(text)
    return topology.read(file)


def ports_of(campus: Topology) -> list[int]:
    cluster = campus.cluster
    assert cluster
    nodes = [port for node in cluster.nodes for port in (node.mqtt_port, node.nats_port, node.route_port)]
    return [campus.port, *campus.entry_ports, cluster.mqtt_port, cluster.mqtts_port, *nodes]


def test_the_shipped_one_has_three_nodes_two_sites_and_two_processes_of_the_entry() -> None:
    campus = topology.read(SHIPPED)
    assert campus.cluster
    assert [node.name for node in campus.cluster.nodes] == ["nats-1", "nats-2", "nats-3"]
    assert campus.cluster.queue.replicas == 3
    assert [(site.name, site.demo) for site in campus.sites] == [("north", "1"), ("south", "0")]
    assert (campus.port, len(campus.entry_ports)) == (FIRST_PORT, 2)


def test_everything_has_a_port_of_its_own(tmp_path: Path) -> None:
    sites = "\n".join(f'[[sites]]\nname = "s{number}"\nbuilding = "{BUILDING}"\nstores = 2' for number in range(20))
    campus = read(tmp_path, f"[entry]\nprocesses = 6\n[broker]\nnodes = 5\n{sites}")
    ports = ports_of(campus)
    keys = (*PORT_KEYS, *SECOND_PORT_KEYS)
    ports += [site.first_port + number for site in campus.sites for number in range(len(keys))]
    assert len(set(ports)) == len(ports)


def test_every_fault_is_named(tmp_path: Path) -> None:
    text = f"""
[entry]
port = 80
workers = 3
[broker]
nodes = 2
replicas = 3
sync_interval = "now"
bind = "here"
names = ["a b"]
[[sites]]
name = "entry"
building = "nowhere.json"
[[sites]]
name = "a"
building = "{BUILDING}"
demo = "yes"
stores = 3
[[sites]]
name = "a"
url = "https://a.example.org"
"""
    with pytest.raises(StackError) as raised:
        read(tmp_path, text)
    lines = [line.strip() for line in str(raised.value).splitlines()[1:]]
    assert [line.split(": ")[0] for line in lines] == [
        "entry has no key 'workers'",
        "entry.port",
        "sites[0].building",
        "sites[0].name",
        "sites[1].demo",
        "sites[1].stores",
        "sites[2].key_file",
        "sites",
        "broker.nodes",
        "broker.replicas",
        "broker.sync_interval",
        "broker.bind",
        "broker.names",
    ]


@pytest.mark.parametrize("text", ["sites = 3", "", "[[sites]", "sites = []"])
def test_what_is_no_campus_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(StackError, match=r"is no TOML|give 1 to 20 tables"):
        read(tmp_path, text)


@pytest.mark.parametrize("port", ["80", "65530", "many", "-1"])
def test_a_port_that_is_none_is_refused(port: str) -> None:
    with pytest.raises(StackError, match=r"entry\.port: .* is not a number from 1024 to"):
        chosen({"CAMPUS_PORT": port})


def test_the_environment_chooses_file_and_port(tmp_path: Path) -> None:
    assert chosen({"CAMPUS_PORT": ""}).port == chosen({}).port == FIRST_PORT
    assert chosen({"CAMPUS_PORT": "19000"}).entry_ports == (19_003, 19_004)
    file = tmp_path / "own.toml"
    file.write_text(f'[[sites]]\nname = "own"\nbuilding = "{BUILDING}"')
    own = chosen({"CAMPUS": str(file)})
    assert (own.cluster, [site.name for site in own.sites]) == (None, ["own"])
    with pytest.raises(StackError, match="cannot be read"):
        chosen({"CAMPUS": str(tmp_path / "none.toml")})


def test_the_entrys_file_lists_each_site_and_holds_no_secret() -> None:
    sites = [
        SiteEndpoint("north", "http://127.0.0.1:19004", Path("north.key")),
        SiteEndpoint("east", "https://east.example.org", Path("/keys/east.key"), Path("/keys/ca.crt")),
    ]
    assert tomllib.loads(campus_toml(19_000, sites, 3000)) == {
        "entry": {
            "port": 19_000,
            "data_dir": ".",
            "site_timeout_ms": 3000,
            "trusted_nets": ["127.0.0.0/8", "::1/128"],
        },
        "sites": [
            {"name": "north", "url": "http://127.0.0.1:19004", "key_file": "north.key"},
            {
                "name": "east",
                "url": "https://east.example.org",
                "key_file": "/keys/east.key",
                "ca_file": "/keys/ca.crt",
            },
        ],
    }


def test_sites_have_folders_and_ports_of_their_own_and_the_broker_of_all(tmp_path: Path) -> None:
    campus = topology.read(SHIPPED)
    made = [site_settings(tmp_path, site, campus.cluster) for site in campus.sites]
    own = [settings.port(key) for settings in made for key in PORT_KEYS if not key.startswith("MQTT")]
    assert len(set(own)) == len(own)
    assert len({settings.data_dir for settings in made}) == len(made)
    assert {(one["BROKER"], one["MQTT_PORT"], one["MQTTS_PORT"]) for one in made} == {("cluster", "18801", "18802")}
    assert [settings.demo for settings in made] == [True, False], "people walk in the demo building alone"
    assert f"HTTP_PORT={made[1]['HTTP_PORT']}\n" in made[1].env_file.read_text(), "other commands find the site"
    made[1].building.write_text(made[1].building.read_text().replace("Annex", "Our annex"))
    again = site_settings(tmp_path, replace(campus.sites[1], stores=2), None)
    assert "Our annex" in again.building.read_text(), "a building that was changed is kept"
    assert (again["BROKER"], len(again.stores)) == ("mosquitto", 2)


def test_haproxy_has_the_nodes_and_the_entrys_processes_and_refuses_receivers_without_tls() -> None:
    campus = topology.read(SHIPPED)
    text = haproxy.render(campus, Path("/somewhere else/ca.crt"), 20_000)
    assert campus.cluster
    for node in campus.cluster.nodes:
        assert f"server {node.name} 127.0.0.1:{node.mqtt_port}" in text
    assert [line.split()[1:3] for line in text.splitlines() if "server entry-" in line] == [
        ["entry-1", "127.0.0.1:18803"],
        ["entry-2", "127.0.0.1:18804"],
    ]
    (receivers,) = [part for part in text.split("\n\n") if "frontend mqtts" in part]
    assert "tcp-request content reject" in receivers
    assert "ca-file '/somewhere else/ca.crt'" in text
    assert "maxconn 8000" in text
    assert "mqtt" not in haproxy.render(replace(campus, cluster=None), Path("ca.crt"), 20_000)
