#!/bin/sh
# Writes FILE (.env, mode 0600) with fresh secrets where it is missing, adds keys that a newer version needs, and
# refuses a damaged one by line. Used by the native and the Compose way of running alike.
# Usage: native/env.sh FILE
set -eu
file=$1
umask 077
fail() { printf 'error: %s\n' "$1" >&2; exit 2; }
secret() { od -An -N24 -tx1 /dev/urandom | tr -d ' \n'; }

secrets="SDA_API_KEY SDA_ADMIN_USER SDA_ADMIN_PASSWORD MQTT_TELEGRAF_PASSWORD MQTT_NODERED_PASSWORD MQTT_SIMULATOR_PASSWORD INFLUX_ADMIN_TOKEN"
if [ -e "$file" ]; then
  [ -f "$file" ] || fail "$file is no file; move it away and run this again"
  { [ -r "$file" ] && [ -w "$file" ]; } || fail "$file cannot be read and written by $(id -un); give it to this user: chown $(id -un) $file"
  damaged=$(grep -anvE '^([A-Z][A-Z0-9_]*=[^[:cntrl:]]*|[[:space:]]*(#.*)?)$' "$file" | head -n 1 | cut -d: -f1 || true)
  [ -z "$damaged" ] || fail "$file line $damaged is not KEY=value; mend it, or move the file away to get a fresh one (the data folder then needs 'make clean')"
  twice=$(grep -aoE '^[A-Z][A-Z0-9_]*=' "$file" | sort | uniq -d | head -n 1 || true)
  [ -z "$twice" ] || fail "$file has ${twice%=} twice; keep one of them"
  for key in $secrets; do # data are bound to them: a fresh one would lock us out
    grep -aq "^$key=." "$file" || fail "$file has no $key; restore the file, or move it away and 'make clean' to begin anew"
  done
  target=$file
else # beside it, until it is whole
  target=$file.new
  echo "# Settings and secrets of this installation; never commit it. A variable set in the environment wins." >"$target"
fi
chmod 600 "$target"
[ -z "$(tail -c 1 "$target")" ] || echo >>"$target"

keep() { # key value: added where the key is missing, above what native/compose works out
  ! grep -q "^$1=" "$target" || return 0
  if grep -q '^# Worked out' "$target"; then
    awk -v line="$1=$2" '/^# Worked out/ { print line } { print }' "$target" >"$target.kept" && mv "$target.kept" "$target"
  else
    printf '%s=%s\n' "$1" "$2" >>"$target"
  fi
}
keep MQTT_PORT 1883
keep MQTT_BIND 127.0.0.1
keep MQTT_SERVICES_OUTSIDE ''
keep MQTTS_PORT 8883
keep MQTTS_BIND 0.0.0.0
keep MQTTS_NAMES ''
keep INFLUX_PORT 8086
keep HTTP_PORT 1880
keep HTTP_BIND 127.0.0.1
keep HTTP_NAMES ''
keep HTTPS_PORT ''
keep HTTPS_BIND 0.0.0.0
keep HTTPS_CERT ''
keep HTTPS_KEY ''
keep PROXY_NAME ''
keep PROXY_TLS ''
keep TELEGRAF_PORT 8088
keep DATA_DIR .data
keep SDA_API_KEY "$(secret)"
keep SDA_ADMIN_USER admin
keep SDA_ADMIN_PASSWORD "$(secret)"
keep SDA_VIEWER_USER viewer
keep SDA_VIEWER_PASSWORD "$(secret)"
keep SDA_TRUSTED_NETS 127.0.0.0/8,::1/128
keep SDA_TRUSTED_PROXIES ''
keep SDA_RATE_PER_S 3000
keep SDA_RATE_TRUSTED_PER_S 10000
keep SDA_BUILDING building/building.json
keep SIM ''
keep SDA_EDITOR ''
keep SDA_CORS_ORIGINS ''
keep MQTT_TELEGRAF_PASSWORD "$(secret)"
keep MQTT_NODERED_PASSWORD "$(secret)"
keep MQTT_SIMULATOR_PASSWORD "$(secret)"
keep INFLUX_ADMIN_TOKEN "$(secret)"
keep INFLUX_WRITE_TOKEN ''
keep INFLUX_READ_TOKEN ''
keep MEMORY_MIB 1024
[ "$target" = "$file" ] || mv "$target" "$file"
