#!/bin/sh
# Prints a setting: the environment's value, else that of .env, without the values of native/derived.sh.
# Usage: native/value.sh KEY, from the repository
set -eu
eval "given=\${$1:-}"
# shellcheck disable=SC2154
[ -n "$given" ] || given=$(sed -n -e '/^# Worked out/q' -e "s/^$1=//p" .env)
printf '%s' "$given"
