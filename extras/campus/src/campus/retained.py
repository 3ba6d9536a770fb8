"""Clears what the broker keeps of a person."""

import paho.mqtt.client as mqtt
from paho.mqtt.enums import CallbackAPIVersion
from stack.errors import StackError
from stack.settings import Settings

WITHIN_S = 10.0


def clear_location(settings: Settings, person: str) -> None:
    """Remove a person's retained location. Raises StackError when the broker does not acknowledge it."""
    client = mqtt.Client(CallbackAPIVersion.VERSION2, "nodered/operator")
    client.username_pw_set("nodered-operator", settings["MQTT_NODERED_PASSWORD"])
    try:
        client.connect(settings.mqtt_host, settings.port("MQTT_PORT"))
        client.loop_start()
        sent = client.publish(f"sda/v1/staff/{person}/location", b"", qos=1, retain=True)
        sent.wait_for_publish(WITHIN_S)
        cleared = sent.is_published()
    except (OSError, RuntimeError) as error:
        raise StackError(f"the broker keeps the last location of {person}: {error}; run this again") from None
    finally:
        client.disconnect()
        client.loop_stop()
    if not cleared:
        raise StackError(f"the broker keeps the last location of {person}: it does not answer; run this again")
