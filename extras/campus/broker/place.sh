#!/bin/sh
# For containers: copies the files of a folder to another one, for one user alone. Each is replaced by rename, and only where
# it differs; with `--missing` only where there is none.
# Usage: place.sh FROM TO UID:GID [--missing]
set -eu
umask 077
cd "$1"
find . -type d | while read -r folder; do
  mkdir -p "$2/$folder"
  chown "$3" "$2/$folder"
done
# Backwards, so that a key is there before its certificate.
find . -type f | sort -r | while read -r file; do
  [ -z "${4:-}" ] || ! [ -e "$2/$file" ] || continue
  ! cmp -s "$file" "$2/$file" || continue
  cp "$file" "$2/$file.new"
  chown "$3" "$2/$file.new"
  mv "$2/$file.new" "$2/$file"
  echo "wrote ${file#./}"
done
