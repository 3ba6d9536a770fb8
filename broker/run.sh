#!/bin/sh
# Runs Mosquitto (COMMAND …) in its data folder. A renewed server certificate ends it in order: supervisord or Docker then
# starts it with the new one, which Mosquitto 2.0 would otherwise only read on SIGHUP (README.md says why never that).
# Usage: run.sh mosquitto -c mosquitto.conf
set -eu
(
  # $$ is Mosquitto, once this script has become it.
  while sleep "${CERTIFICATE_LOOK_S:-10}" && kill -0 $$ 2>/dev/null; do
    if [ -n "$(find tls/server.crt -newer mosquitto.pid 2>/dev/null)" ]; then
      echo "run.sh: the server certificate is new; Mosquitto is stopped, to be started with it"
      kill -TERM $$
      exit
    fi
  done
) &
exec "$@"
