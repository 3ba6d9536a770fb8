"""Admits MQTT clients to NATS by the accounts and rights of Mosquitto's files, and cuts off those that were removed."""
