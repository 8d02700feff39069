#!/bin/sh
# Chromium for the tests of the report page, from Debian's packages, where there is no browser yet.
set -u
for name in chromium chromium-browser google-chrome google-chrome-stable; do
  command -v "$name" >/dev/null 2>&1 && exit 0
done
if ! command -v apt-get >/dev/null 2>&1; then
  echo "make browser: no Chromium and no apt-get here. Install Chromium or Chrome, then run make browser again." >&2
  exit 1
fi
if [ "$(id -u)" -eq 0 ]; then as_root=""; else as_root="sudo -n"; fi
$as_root apt-get update -qq
if ! DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core >/dev/null; then
  echo "make browser: could not install Chromium. As root: apt-get install chromium. Then run make browser again." >&2
  exit 1
fi
