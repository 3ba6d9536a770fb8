"""Whom the callout of NATS admits, with which rights, and what nats.conf it works with."""

from dataclasses import replace
from typing import Any

import pytest
from callout import figures
from callout.admission import Accounts, Login, Refusal, admit
from callout.directory import changed
from callout.queue import MAX_BYTES, bounded
from callout.subjects import Rights, permissions, rights_of, subject
from callout.takeovers import TAKEN_OVER, Takeovers
from nats_config import Broker, Listeners, Node, PublicKeys, Storage, render, render_cluster
from passwords import hash_password

READINGS = Rights(publish=("sda.v1.gateway.gw-1.readings",))
ACCOUNTS = Accounts(
    hashes={"gw-1": hash_password("right"), "nodered": hash_password("right")},
    rights={"gw-1": READINGS},
    client_ids={"nodered": "nodered/flows"},
)
RECEIVER = Login("gw-1", "right", "gw-1", "192.0.2.1", tls=True, mqtt=True)
SERVICE = Login("nodered", "right", "nodered/flows", "127.0.0.1", tls=False, mqtt=True)
KEYS = PublicKeys("A-ISSUER", "U-CALLOUT", "U-SYSTEM", {"north": "U-NORTH", "south": "U-SOUTH"})
LISTENERS = Listeners("192.0.2.9", 8883, 4222)


def test_accounts_are_admitted_with_their_rights() -> None:
    assert admit(RECEIVER, ACCOUNTS) == READINGS
    assert admit(SERVICE, ACCOUNTS) == Rights()  # an account without a block in the ACL


@pytest.mark.parametrize(
    ("login", "why"),
    [
        (replace(RECEIVER, tls=False), "without TLS"),
        (replace(RECEIVER, tls=False, host="no address"), "without TLS"),
        (replace(RECEIVER, mqtt=False), "does not speak MQTT"),
        (replace(RECEIVER, password="wrong"), "password"),
        (replace(RECEIVER, username="nobody"), "password"),
        (replace(RECEIVER, client_id="gw-2"), "client id must be the user name"),
        (replace(RECEIVER, client_id=""), "client id must be the user name"),
        (replace(RECEIVER, tls=False, host="::1", client_id="nodered/flows"), "that of a service"),
        (replace(SERVICE, client_id="other"), "without TLS only"),
        (replace(SERVICE, tls=True), "without TLS only"),
    ],
)
def test_others_are_refused_with_the_reason(login: Login, why: str) -> None:
    answer = admit(login, ACCOUNTS)
    assert isinstance(answer, Refusal)
    assert why in answer.reason


def test_services_may_come_from_outside_where_they_are_not_bound() -> None:
    outside = replace(ACCOUNTS, client_ids={})
    assert admit(replace(SERVICE, tls=True, host="192.0.2.1"), outside) == Rights()
    assert isinstance(admit(replace(SERVICE, tls=True, client_id="x"), outside), Refusal)


def test_topics_become_subjects() -> None:
    assert subject("sda/v1/gateway/pi.lobby/+") == "sda.v1.gateway.pi//lobby.*"
    rights = rights_of("# comment\n\nuser a\ntopic readwrite x/#\ntopic write y\n\nuser b\n")
    assert rights == {"a": Rights(("x.>", "y"), ("x.>", "x")), "b": Rights()}
    with pytest.raises(ValueError, match="neither"):
        rights_of("user a\npattern read %u/#\n")


def test_no_rights_deny_everything() -> None:
    """An empty list would allow everything in NATS."""
    assert permissions(Rights())["pub"] == {"deny": [">"]}
    assert permissions(Rights())["sub"]["allow"] == ["$MQTT.sub.>", "$MQTT.deliver.pubrel.>"]


def test_changes_are_those_of_password_rights_and_client_id() -> None:
    after = replace(ACCOUNTS, hashes={"nodered": ACCOUNTS.hashes["nodered"]}, client_ids={})
    assert changed(ACCOUNTS, after) == {"gw-1": True, "nodered": False}
    assert changed(ACCOUNTS, ACCOUNTS) == {}


def test_the_queue_is_bounded_once() -> None:
    config = bounded({"name": "$MQTT_msgs", "max_bytes": -1, "discard": "old"}, MAX_BYTES)
    assert config == {"name": "$MQTT_msgs", "max_bytes": MAX_BYTES, "discard": "new"}
    assert bounded(config, MAX_BYTES) is None


def test_one_node_has_no_cluster_and_each_site_an_account() -> None:
    node = Node("n1")
    text = render(node, broker_of([node]), LISTENERS)
    assert "stream_replicas: 1" in text
    assert "cluster {" not in text
    assert "route-secret" not in text
    assert '"north": {' in text
    assert '"south": {' in text
    assert "http" not in text, "a monitoring port has no access control"


def test_three_nodes_are_a_cluster_with_three_replicas() -> None:
    nodes = [Node(f"n{number}", f"192.0.2.{number}") for number in (1, 2, 3)]
    text = render(nodes[1], broker_of(nodes), LISTENERS)
    assert "stream_replicas: 3" in text
    assert 'listen: "192.0.2.2:6222"' in text
    assert all(f"@{node.host}:6222" in text for node in nodes)
    assert 'ping_interval: "5s"\n  ping_max: 2' in text, "a node that is cut off is noticed within 15 s"


@pytest.mark.parametrize("nodes", [[], [Node("a"), Node("b")], [Node("a"), Node("a"), Node("b")]])
def test_a_cluster_that_cannot_agree_is_refused(nodes: list[Node]) -> None:
    with pytest.raises(ValueError, match="node"):
        render(Node("a"), broker_of(nodes), LISTENERS)


@pytest.mark.parametrize("replicas", [2, 5])
def test_replicas_that_cannot_agree_are_refused(replicas: int) -> None:
    nodes = [Node(name) for name in "abc"]
    with pytest.raises(ValueError, match=f"{replicas} replicas on 3 nodes"):
        render(nodes[0], broker_of(nodes), LISTENERS, Storage(replicas=replicas))


def test_nodes_of_one_machine_have_ports_and_stores_of_their_own_and_share_the_rest() -> None:
    nodes = [Node(name, route_port=port) for port, name in enumerate("abc", 6222)]
    here = {name: Listeners("127.0.0.1", 1884 + number, 4222 + number) for number, name in enumerate("abc")}
    texts = render_cluster(broker_of(nodes), here, Storage(replicas=1, sync_interval="always"))
    assert list(texts) == ["a", "b", "c"]
    for number, (name, text) in enumerate(texts.items()):
        assert f'server_name: "{name}"' in text
        assert f'store_dir: "nats/store/{name}"' in text
        assert f'listen: "127.0.0.1:{1884 + number}"' in text
        assert f'listen: "127.0.0.1:{4222 + number}"' in text
        assert f'listen: "127.0.0.1:{6222 + number}"' in text
        assert "stream_replicas: 1" in text
        assert 'sync_interval: "always"' in text
    only = render_cluster(broker_of(nodes), {"b": here["b"]}, Storage())
    assert list(only) == ["b"], "the others are on other machines"


def test_the_queues_of_all_sites_take_half_of_what_a_node_may_store() -> None:
    """At that limit nobody could connect, not even who empties the queues."""
    node = Node("a")
    text = render(node, broker_of([node]), LISTENERS, Storage(queue_bytes=1000))
    assert "max_file_store: 4000\n" in text


def broker_of(nodes: list[Node]) -> Broker:
    return Broker(nodes, KEYS, "route-secret", 20_000)


def test_figures_are_those_of_all_nodes_and_of_a_site() -> None:
    nodes = [
        {
            "now": "2026-01-01T00:01:00Z",
            "start": f"2026-01-01T00:00:{second}Z",
            "version": "2",
            "mem": 10,
            "in_client_msgs": 7,
        }
        for second in ("10", "50")
    ]
    behind, whole = (_store({"north": [1, count], "south": [40]}) for count in (2, 3))
    assert figures.topics(nodes, [behind, whole], "north") == {
        "$SYS/broker/uptime": "50 seconds",
        "$SYS/broker/version": "nats-server 2",
        "$SYS/broker/heap/current": "20",
        "$SYS/broker/publish/messages/received": "14",
        "$SYS/broker/store/messages/count": "4",
        "$SYS/broker/store/messages/bytes": "400",
    }
    assert figures.topics(nodes[:1], [{}], "north")["$SYS/broker/store/messages/count"] == "0", (
        "nobody has connected yet"
    )


def test_a_takeover_is_reported_as_mosquitto_does_whichever_event_comes_first() -> None:
    def event(host: str, number: int, reason: str = "", **more: str) -> dict[str, Any]:
        client = {
            "acc": "north",
            "client_type": "mqtt",
            "client_id": "gw-1",
            "user": "gw-1",
            "host": host,
            "id": number,
        }
        return {"client": client | more, "reason": reason}

    lines = [
        "Client gw-1 [192.0.2.7:0] disconnected: session taken over.",
        "New client connected from 192.0.2.8:0 as gw-1 (p0, c0, k0, u'gw-1').",
    ]
    found = Takeovers()
    assert found.connected(event("192.0.2.7", 1)) == []
    assert found.connected(event("192.0.2.8", 2)) == []
    assert found.disconnected(event("192.0.2.7", 1, TAKEN_OVER)) == lines
    assert found.disconnected(event("192.0.2.8", 2, "Client Closed")) == []
    assert found.disconnected(event("192.0.2.8", 2, TAKEN_OVER, acc="south")) == [], "another site's"
    assert found.connected(event("192.0.2.8", 2, client_type="nats")) == []
    other = Takeovers()
    other.connected(event("192.0.2.7", 1))
    assert other.disconnected(event("192.0.2.7", 1, TAKEN_OVER)) == []
    assert other.connected(event("192.0.2.8", 2)) == lines


def _store(sites: dict[str, list[int]]) -> dict[str, Any]:
    """`/jsz` of a node, whose streams have so many messages."""
    return {
        "account_details": [
            {"name": site, "stream_detail": [{"state": {"messages": one, "bytes": 100 * one}} for one in counts]}
            for site, counts in sites.items()
        ]
    }
