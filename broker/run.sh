#!/bin/sh
# Runs Mosquitto (COMMAND …) in its data folder. Makes it read accounts, rights and the server certificate again when they
# have changed, within a second: nobody is disconnected but clients whose account has gone or has another password.
# `mosquitto.applied` in the folder says which files it has read; accounts.py waits for it.
# Usage: run.sh mosquitto -c mosquitto.conf
set -eu
# The files are replaced as a whole, so a change always changes the inode.
state() { stat -c '%i %Y %s' passwords acl tls/server.crt tls/server.key 2>/dev/null || true; }
applied() { (umask 077 && echo "$1" >mosquitto.applied.new) && mv mosquitto.applied.new mosquitto.applied; }
read_state=$(state)
(
  # $$ becomes Mosquitto's process id by exec.
  applied "$read_state"
  handles=
  while sleep "${LOOK_S:-0.5}" && kill -0 $$ 2>/dev/null; do
    # At its start Mosquitto reads the files before it handles signals, which would end it until then.
    if [ -z "$handles" ]; then
      ! grep -q '^SigCgt:.*[13579bdf]$' /proc/$$/status || handles=yes
      continue
    fi
    # 2.1 updates $SYS only if something wakes it in a second that ends with 0. The signal rotates log files; there are none.
    kill -s RTMIN $$ 2>/dev/null || true
    now=$(state)
    [ "$now" != "$read_state" ] || continue
    while sleep 0.1 && [ "$now" != "$(state)" ]; do now=$(state); done # until all of a change is there
    read_state=$now
    kill -HUP $$ 2>/dev/null || true
    applied "$now"
  done
  rm -f mosquitto.applied
) &
exec "$@"
