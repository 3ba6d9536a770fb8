#!/bin/sh
# For containers: runs apply.py and writes each issued token to its own file, readable for one group.
# Usage: tokens.sh URL FOLDER
set -eu
umask 077
mkdir -p "$2/all"
python "$(dirname "$0")/apply.py" --url "$1" --env-file "$2/all/env"

write_token() { # name group
  sed -n "s/^$1=//p" "$2/all/env" >"$2/$1.new"
  chown "0:$3" "$2/$1.new"
  chmod 440 "$2/$1.new"
  mv "$2/$1.new" "$2/$1"
}
write_token INFLUX_WRITE_TOKEN "$2" 2001 # Telegraf's
write_token INFLUX_READ_TOKEN "$2" 2002  # Node-RED's
