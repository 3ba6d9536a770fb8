#!/bin/sh
# Runs Mosquitto (COMMAND …) in its data folder. Stops it cleanly when the server certificate was renewed; supervisord or
# Docker then restarts it with the new one. Mosquitto 2.0 would otherwise read it only on SIGHUP, which loses messages
# (README.md).
# Usage: run.sh mosquitto -c mosquitto.conf
set -eu
(
  # $$ becomes Mosquitto's process id by exec.
  while sleep "${CERTIFICATE_LOOK_S:-10}" && kill -0 $$ 2>/dev/null; do
    if [ -n "$(find tls/server.crt -newer mosquitto.pid 2>/dev/null)" ]; then
      echo "run.sh: the server certificate is new; stopping Mosquitto for a restart"
      kill -TERM $$
      exit
    fi
  done
) &
exec "$@"
