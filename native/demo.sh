#!/bin/sh
# Whether the demo runs: exit code 0 yes, 1 no, 2 with a message if SIM is neither 0, 1 nor empty.
# With an empty SIM it runs only with the unchanged demo building: never under the ids of another building's staff.
# Usage: native/demo.sh SIM BUILDING, from the repository
set -eu
case $1 in
  0) exit 1 ;;
  1) exit 0 ;;
  '') ;;
  *) echo "error: SIM=$1 is neither 1 (demo on) nor 0 (demo off) nor empty (on with the demo building only)" >&2; exit 2 ;;
esac
[ "$(cksum <"$2")" = "$(cat native/demo.cksum)" ]
