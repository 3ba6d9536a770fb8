#!/bin/sh
# Prints values that compose.yaml needs beside the settings, as KEY=value lines: demo, building folder and its owner, memory,
# network, and a digest of the files that each service reads, so that a changed file recreates its service.
# Usage: native/derived.sh, from the repository
set -eu
value() { sh native/value.sh "$1"; }
fail() { printf 'error: %s\n' "$1" >&2; exit 2; }
digest() { cat "$@" | cksum | tr ' ' -; }

building=$(value SDA_BUILDING) # relative to the repository, or absolute
building=${building:-flows/building/demo.json}
[ -f "$building" ] || fail "SDA_BUILDING=$building is no file; give a building file's path, in .env"
folder=$(dirname "$building")
# shellcheck disable=SC2012 # stat has other options on each system
owner=$(ls -nd "$folder" | awk '{ print $3 ":" $4 }')
[ "${owner%:*}" != 0 ] || owner=1000:1000 # no network service runs as root
code=0
sh native/demo.sh "$(value SIM)" "$building" || code=$?
case $code in 0) profiles=demo without='' ;; 1) profiles='' without=--no-simulator ;; *) exit 2 ;; esac

whole=$(value MEMORY_MIB)
case ${whole:=1024} in *[!0-9]*) fail "MEMORY_MIB=$whole is no number of MiB" ;; esac
[ "$whole" -ge 1024 ] || fail "MEMORY_MIB=$whole is too little: 1024 are needed"
# Shares of 1024; 24 more are for `certificates` and 40 for the demo. docs/operations.md has the measurements.
share() { echo $((whole * $1 / 1024)); }
heap() { echo $(($(share "$1") * $2 / 100)); }

changed=leave # what simulated phones do when the building changes
[ "$(value SIM)" != 1 ] || changed=follow
network=$(sh native/network.sh "$(value HTTPS_PORT)" "$(value HTTPS_CERT)" "$(value HTTPS_KEY)" "$(value PROXY_NAME)")
bridge=$(sh native/bridge.sh "$(value COMPOSE_PROJECT_NAME)" "$(value BRIDGE_NET)")

cat <<VALUES
COMPOSE_PROFILES=$profiles
NO_SIMULATOR=$without
DEMO_WHEN_CHANGED=$changed
$network
HOST_NAME=$(uname -n)
SDA_BUILDING_DIR=$folder
SDA_BUILDING_NAME=$(basename "$building")
SDA_UID=${owner%:*}
SDA_GID=${owner#*:}
BRIDGE_NET=$bridge
MOSQUITTO_MIB=$(share 208)
INFLUXDB_MIB=$(share 324)
INFLUXDB_HEAP_MIB=$(heap 324 75)
TELEGRAF_MIB=$(share 108)
TELEGRAF_HEAP_MIB=$(heap 108 85)
SPOOL_MIB=$(share 64)
NODE_RED_MIB=$(share 256)
NODE_RED_HEAP_MIB=$(heap 256 60)
MOSQUITTO_CONFIGURATION=$(digest broker/mosquitto.conf broker/run.sh)
CERTIFICATES_CONFIGURATION=$(digest broker/*.py)
INFLUXDB_CONFIGURATION=$(digest influx/influxd.toml)
TELEGRAF_CONFIGURATION=$(digest ingest/start ingest/telegraf.conf ingest/readings.star ingest/telegraf.d/*.conf influx/tokens.json)
SPOOL_CONFIGURATION=$(digest ingest/spool/*.py influx/tokens.json)
NODE_RED_CONFIGURATION=$(digest influx/tokens.json)
VALUES
