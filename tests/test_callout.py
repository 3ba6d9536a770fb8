"""Whom the callout of NATS admits, with which rights, and what nats.conf it works with."""

from dataclasses import replace

import pytest
from callout.admission import Accounts, Login, Refusal, admit
from callout.directory import changed
from callout.queue import MAX_BYTES, bounded
from callout.subjects import Rights, permissions, rights_of, subject
from nats_config import Listeners, Node, PublicKeys, render
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
    text = render(node, [node], LISTENERS, KEYS, "route-secret", 20_000)
    assert "stream_replicas: 1" in text
    assert "cluster {" not in text
    assert "route-secret" not in text
    assert '"north": {' in text
    assert '"south": {' in text
    assert "http" not in text, "a monitoring port has no access control"


def test_three_nodes_are_a_cluster_with_three_replicas() -> None:
    nodes = [Node(f"n{number}", f"192.0.2.{number}") for number in (1, 2, 3)]
    text = render(nodes[1], nodes, LISTENERS, KEYS, "route-secret", 20_000)
    assert "stream_replicas: 3" in text
    assert 'listen: "192.0.2.2:6222"' in text
    assert all(f"@{node.host}:6222" in text for node in nodes)


@pytest.mark.parametrize("nodes", [[], [Node("a"), Node("b")], [Node("a"), Node("a"), Node("b")]])
def test_a_cluster_that_cannot_agree_is_refused(nodes: list[Node]) -> None:
    with pytest.raises(ValueError, match="node"):
        render(Node("a"), nodes, LISTENERS, KEYS, "", 20_000)
