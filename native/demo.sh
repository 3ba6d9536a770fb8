#!/bin/sh
# Whether the demo plays: exit code 0 yes, 1 no, 2 with a message when SIM is neither 0, 1 nor empty.
# Not asked (SIM is empty) it plays with the demo building as it came only: never under the ids of an own building's staff.
# Usage: native/demo.sh SIM BUILDING, from the repository
set -eu
case $1 in
  0) exit 1 ;;
  1) exit 0 ;;
  '') ;;
  *) echo "error: SIM=$1 is neither 1 (the demo plays) nor 0 (it does not) nor empty (it plays with the demo building)" >&2; exit 2 ;;
esac
[ "$(cksum <"$2")" = "$(cat native/demo.cksum)" ]
