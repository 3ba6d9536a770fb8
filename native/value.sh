#!/bin/sh
# The value of a setting: the environment's, else .env's. What native/derived.sh has put there does not count.
# Usage: native/value.sh KEY, from the repository
set -eu
eval "given=\${$1:-}"
# shellcheck disable=SC2154
[ -n "$given" ] || given=$(sed -n -e '/^# Worked out/q' -e "s/^$1=//p" .env)
printf '%s' "$given"
