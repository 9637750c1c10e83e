#!/bin/sh
# Starts a command with the variables of a mounted file, where there is one. A variable that is set wins.
set -eu
file=/run/facedrift/facedrift.env
if [ -e "$file" ]; then
    if [ ! -f "$file" ] || [ ! -r "$file" ]; then
        echo "facedrift: $file is no file that user $(id -u) can read; give it group 10001 and mode 0640" >&2
        exit 1
    fi
    exec dotenv --file "$file" run --no-override -- "$@"
fi
exec "$@"
