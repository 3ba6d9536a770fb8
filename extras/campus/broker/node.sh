#!/bin/sh
# Runs a node of a campus' broker in a container: nats-server, and the callout beside it, which is started again when it ends.
# They are one container, since the callout is admitted on nats-server's own loopback only.
# Usage: node.sh OPTIONS-OF-THE-CALLOUT
set -eu
(
  while :; do
    python -m callout --data . --port 4222 --mqtt-port 8883 --ready /tmp/callout.ready "$@" || true
    sleep 1
  done
) &
exec nats-server --config nats/nats.conf
