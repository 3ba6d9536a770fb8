#!/bin/sh
# Prints how this installation runs: `compose` or `native`. An existing installation keeps its mode; a new one uses Docker
# Compose if an engine answers. Usage: native/mode.sh REPOSITORY COMMAND
set -eu
root=$1 command=$2
fail() { printf 'error: %s\n' "$1" >&2; exit 2; }

case ${MODE:-auto} in
  native | compose) echo "$MODE"; exit ;;
  auto) ;;
  *) fail "MODE=$MODE is neither native nor compose nor auto" ;;
esac
installed=
! docker compose version >/dev/null 2>&1 || installed=yes
if [ -n "$installed" ] && answer=$(docker info --format '{{.ServerVersion}}' 2>&1); then
  here=$(docker ps --all --quiet --filter "label=com.docker.compose.project.working_dir=$root")
  if [ -n "$here" ] || ! [ -e "$root/.native" ]; then echo compose; else echo native; fi
  exit
fi
if [ -e "$root/.compose" ]; then
  fail "this installation runs under Docker Compose, and the engine cannot be asked: ${answer:-the command 'docker compose' is missing}"
fi
if [ -e "$root/.native" ]; then echo native; exit; fi
case ${answer:-} in
  *"ermission denied"*)
    fail "Docker is installed, but $(id -un) may not use it: sudo usermod -aG docker $(id -un), log in again and run this again. (Whoever may use Docker may do everything on this machine; without it: MODE=native make $command)" ;;
esac
[ -z "${answer:-}" ] || [ "$command" != up ] || echo "Docker is installed, but its engine does not run: without it, as native processes (MODE=compose insists)" >&2
echo native
