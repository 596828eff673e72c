#!/bin/sh
# Finds a Chromium for the browser tests, or installs Debian's where that is possible; never fails.
# REDELVE_CHROMIUM may name one.

found() {
    for name in "${REDELVE_CHROMIUM:-}" chromium chromium-browser google-chrome google-chrome-stable; do
        [ -n "$name" ] && command -v "$name" 2>/dev/null && return 0
    done
    return 1
}

if path=$(found); then
    echo "browser tests use $path"
    exit 0
fi
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    DEBIAN_FRONTEND=noninteractive
    export DEBIAN_FRONTEND
    { apt-get -qq update && apt-get -qq install -y --no-install-recommends chromium; } >/dev/null 2>&1
fi
if path=$(found); then
    echo "browser tests use $path"
else
    echo "browser tests will be skipped: there is no Chromium; install one or name it in REDELVE_CHROMIUM"
fi
exit 0
