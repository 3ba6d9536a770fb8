#!/bin/sh
# Prints the network of the containers as three numbers, 10.57.31 for 10.57.31.0/24: the present one, else the first that
# overlaps neither another network of the engine nor a route of this machine. Clouds and engines rarely use these.
# Usage: native/bridge.sh PROJECT [WANTED]; an overlapping WANTED network is refused with the other network's name.
set -eu
project=$1 wanted=${2:-}
fail() { printf 'error: %s\n' "$1" >&2; exit 2; }

number() { # a.b.c.d -> one integer
  # shellcheck disable=SC2086
  (IFS=. && set -- $1 && echo $((($1 << 24) | ($2 << 16) | ($3 << 8) | $4)))
}
dotted() { echo "$(($1 & 255)).$(($1 >> 8 & 255)).$(($1 >> 16 & 255)).$(($1 >> 24))"; } # /proc's order: last byte first

# shellcheck disable=SC2016 # part of the template
engine_networks() {
  docker network ls --quiet | xargs docker network inspect \
    --format '{{$name := .Name}}{{range .IPAM.Config}}{{$name}} {{.Subnet}}{{"\n"}}{{end}}' | grep -v : || true
}
machine_routes() {
  [ -r /proc/net/route ] || return 0
  while read -r interface destination _ _ _ _ _ mask _; do
    case $interface:$destination in Iface:* | *:00000000 | docker* | br-*) continue ;; esac
    length=0 bits=$((0x$mask))
    while [ $bits -gt 0 ]; do length=$((length + (bits & 1))) bits=$((bits >> 1)); done
    echo "the-route-through-$interface $(dotted $((0x$destination)))/$length"
  done </proc/net/route
}
overlapped() { # three numbers -> "name subnet" of the first that it overlaps
  mine=$(number "$1.0")
  echo "$taken" | while read -r name subnet; do
    [ -n "$subnet" ] || continue
    length=${subnet#*/}
    [ "$length" -le 24 ] || length=24
    [ $((mine >> (32 - length))) -ne $(($(number "${subnet%/*}") >> (32 - length))) ] || { echo "$name ($subnet)"; break; }
  done
}

networks=$(engine_networks)
taken=$(echo "$networks" | grep -v "^${project}_default " || true)
if [ -n "$wanted" ]; then
  case $wanted in
    *[!0-9.]* | *.*.*.* | *..* | .* | *.) fail "BRIDGE_NET=$wanted is not three numbers like 10.99.7, the beginning of the containers' network" ;;
    *.*.*) ;;
    *) fail "BRIDGE_NET=$wanted is not three numbers like 10.99.7, the beginning of the containers' network" ;;
  esac
  other=$(overlapped "$wanted")
  [ -z "$other" ] || fail "BRIDGE_NET=$wanted overlaps with $other; remove its line from .env to get another network, or set a free one"
  echo "$wanted"
  exit
fi
has=$(echo "$networks" | sed -n "s|^${project}_default \([0-9.]*\)\.0/24\$|\1|p")
[ -z "$has" ] || { echo "$has"; exit; }
taken="$taken
$(machine_routes)"
for candidate in 10.57.31 10.73.31 10.83.57 10.119.57 192.168.231 192.168.213; do
  [ -n "$(overlapped $candidate)" ] || { echo $candidate; exit; }
done
fail "no network is free for the containers; name one: BRIDGE_NET=… in .env, three numbers like 10.99.7"
