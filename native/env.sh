#!/bin/sh
# Writes FILE (.env, mode 0600) with new secrets if it is missing, adds keys that a newer version needs, and refuses a
# damaged file with the line's number. A new key has the environment's value, if there is one: later commands then find the
# same installation. Used natively and with Compose.
# Usage: native/env.sh FILE
set -eu
file=$1
umask 077
fail() { printf 'error: %s\n' "$1" >&2; exit 2; }
is_port() { case $1 in *[!0-9]* | ??????*) false ;; *) [ "$1" -ge 1 ] && [ "$1" -le 65535 ] ;; esac; }
secret() { od -An -N24 -tx1 /dev/urandom | tr -d ' \n'; }

secrets="SDA_API_KEY SDA_ADMIN_USER SDA_ADMIN_PASSWORD MQTT_TELEGRAF_PASSWORD MQTT_NODERED_PASSWORD MQTT_SIMULATOR_PASSWORD INFLUX_ADMIN_TOKEN"
if [ -e "$file" ]; then
  [ -f "$file" ] || fail "$file is no file; move it away and run this again"
  { [ -r "$file" ] && [ -w "$file" ]; } || fail "$file cannot be read and written by $(id -un); give it to this user: chown $(id -un) $file"
  damaged=$(grep -anvE '^([A-Z][A-Z0-9_]*=[^[:cntrl:]]*|[[:space:]]*(#.*)?)$' "$file" | head -n 1 | cut -d: -f1 || true)
  [ -z "$damaged" ] || fail "$file line $damaged is not KEY=value; correct it, or move the file away to get a new one (the data folder then needs 'make clean')"
  twice=$(grep -aoE '^[A-Z][A-Z0-9_]*=' "$file" | sort | uniq -d | head -n 1 || true)
  [ -z "$twice" ] || fail "$file has ${twice%=} twice; keep one of them"
  for key in $secrets; do # data depend on them: a new secret would lock us out
    grep -aq "^$key=." "$file" || fail "$file has no $key; restore the file, or move it away and 'make clean' to start from scratch"
  done
  target=$file
else # beside it, until it is whole
  target=$file.new
  echo "# Settings and secrets of this installation; never commit it. A variable set in the environment wins." >"$target"
fi
chmod 600 "$target"
[ -z "$(tail -c 1 "$target")" ] || echo >>"$target"

per_run=" SIM BROKER " # chosen for one start, or kept elsewhere
set_default() { # key value: adds a missing key, above the values that native/compose derives
  ! grep -q "^$1=" "$target" || return 0
  given=
  case $per_run in *" $1 "*) ;; *) eval "given=\${$1:-}" ;; esac
  # Who reads the file (a shell, Python, Compose) understands other characters, as in passwords, differently.
  case $given in ' '* | *' ' | *[!A-Za-z0-9' '_./:,@%+=~-]*) given= ;; esac
  if [ -n "$given" ]; then
    case $1 in *_PORT) is_port "$given" || fail "$1=$given in the environment is not a port; give a number from 1 to 65535" ;; esac
    set -- "$1" "$given"
  fi
  if grep -q '^# Worked out' "$target"; then
    awk -v line="$1=$2" '/^# Worked out/ { print line } { print }' "$target" >"$target.kept" && mv "$target.kept" "$target"
  else
    printf '%s=%s\n' "$1" "$2" >>"$target"
  fi
}
set_default BROKER mosquitto
set_default MQTT_PORT 1883
set_default MQTT_BIND 127.0.0.1
set_default MQTT_SERVICES_OUTSIDE ''
set_default MQTT_READERS_PORT 8884
set_default MQTTS_PORT 8883
set_default MQTTS_BIND 0.0.0.0
set_default MQTTS_NAMES ''
set_default INFLUX_PORT 8086
set_default HTTP_PORT 1880
set_default HTTP_BIND 127.0.0.1
set_default HTTP_NAMES ''
set_default HTTPS_PORT ''
set_default HTTPS_BIND 0.0.0.0
set_default HTTPS_CERT ''
set_default HTTPS_KEY ''
set_default PROXY_NAME ''
set_default PROXY_TLS ''
set_default TELEGRAF_PORT 8088
set_default SPOOL_PORT 8087
set_default READINGS_PORT 8089
set_default DATA_DIR .data
set_default SDA_API_KEY "$(secret)"
set_default SDA_ADMIN_USER admin
set_default SDA_ADMIN_PASSWORD "$(secret)"
set_default SDA_VIEWER_USER viewer
set_default SDA_VIEWER_PASSWORD "$(secret)"
set_default SDA_TRUSTED_NETS 127.0.0.0/8,::1/128
set_default SDA_TRUSTED_PROXIES ''
set_default SDA_RATE_PER_S 3000
set_default SDA_RATE_TRUSTED_PER_S 10000
set_default SDA_BUILDING building/building.json
set_default SIM ''
set_default SDA_EDITOR ''
set_default SDA_CORS_ORIGINS ''
set_default MQTT_TELEGRAF_PASSWORD "$(secret)"
set_default MQTT_NODERED_PASSWORD "$(secret)"
set_default MQTT_SIMULATOR_PASSWORD "$(secret)"
set_default INFLUX_ADMIN_TOKEN "$(secret)"
set_default INFLUX_WRITE_TOKEN ''
set_default INFLUX_READ_TOKEN ''
set_default MEMORY_MIB 1024
[ "$target" = "$file" ] || mv "$target" "$file"
