"""MQTT topics as NATS subjects, and Mosquitto's ACL as permissions of NATS. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

DELIVERY = ("$MQTT.sub.>", "$MQTT.deliver.pubrel.>")
"""The server's own subjects on which a session gets retained and QoS 1 messages; no client can name them in MQTT."""
_CHARACTERS = str.maketrans({"/": ".", ".": "//", "+": "*", "#": ">"})


@dataclass(frozen=True, slots=True)
class Rights:
    """Subjects that an account may publish and subscribe to."""

    publish: tuple[str, ...] = ()
    subscribe: tuple[str, ...] = ()


def subject(topic: str) -> str:
    """The NATS subject of an MQTT topic or filter, as nats-server converts it: `a/b.c/+` is `a.b//c.*`."""
    return topic.translate(_CHARACTERS)


def rights_of(acl: str) -> dict[str, Rights]:
    """User -> rights, from the text of Mosquitto's ACL file.

    Raises:
        ValueError: for a line that is none of its `user` and `topic` lines.
    """
    publish: dict[str, list[str]] = {}
    subscribe: dict[str, list[str]] = {}
    user = ""
    for line in acl.splitlines():
        match line.split(maxsplit=2):
            case []:
                continue
            case [word, *_] if word.startswith("#"):
                continue
            case ["user", name]:
                user = name
                publish.setdefault(user, [])
                subscribe.setdefault(user, [])
            case ["topic", ("read" | "write" | "readwrite") as access, topic] if user:
                if "write" in access:
                    publish[user].append(subject(topic))
                if "read" in access:
                    subscribe[user].extend(_subscribed(topic))
            case _:
                raise ValueError(f"{line!r} in the ACL is neither `user NAME` nor `topic read|write|readwrite TOPIC`")
    return {name: Rights(tuple(publish[name]), tuple(subscribe[name])) for name in publish}


def permissions(rights: Rights) -> Mapping[str, Mapping[str, Iterable[str]]]:
    """The permissions of a NATS user JWT. An empty list of NATS would allow everything, so it denies everything."""
    return {
        "pub": {"allow": list(rights.publish)} if rights.publish else {"deny": [">"]},
        "sub": {"allow": [*rights.subscribe, *DELIVERY]},
    }


def _subscribed(topic: str) -> Iterator[str]:
    """A filter `a/#` matches `a` too, for which nats-server subscribes separately."""
    yield subject(topic)
    if topic.endswith("/#"):
        yield subject(topic.removesuffix("/#"))
