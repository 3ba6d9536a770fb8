#!/bin/sh
# Prints the Compose files for HTTPS and the proxy, and the variables of these files, as KEY=value lines.
# Usage: native/network.sh HTTPS_PORT HTTPS_CERT HTTPS_KEY PROXY_NAME, each as in .env, from the repository
set -eu
port=$1 cert=$2 key=$3 proxy=$4
fail() { printf 'error: %s\n' "$1" >&2; exit 2; }

files=compose.yaml
if [ -n "$port" ]; then
  files=$files:compose.https.yaml
  if [ -n "$cert$key" ]; then # a folder is mounted: files are renewed by rename
    { [ -r "$cert" ] && [ -r "$key" ]; } || fail "HTTPS_CERT=$cert and HTTPS_KEY=$key must both be files that can be read"
    folder=$(cd "$(dirname "$cert")" && pwd)
    [ "$folder" = "$(cd "$(dirname "$key")" && pwd)" ] || fail "HTTPS_CERT=$cert and HTTPS_KEY=$key must lie in one folder"
    printf 'HTTPS_DIR=%s\nHTTPS_CERT_NAME=%s\nHTTPS_KEY_NAME=%s\n' "$folder" "$(basename "$cert")" "$(basename "$key")"
  fi
fi
[ -z "$proxy" ] || files=$files:compose.proxy.yaml
echo "COMPOSE_FILE=$files"
