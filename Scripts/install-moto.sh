#!/usr/bin/env bash
# Installs the S3 server that the tests of LoadingKitS3 talk to, where it is missing. Without a way to Python's packages the
# tests that need it are not run, and the run says so at its end.
set -euo pipefail

command -v moto_server >/dev/null && exit 0
"$(dirname "$0")/install-packages.sh" pipx
echo "Installing moto with pipx."
pipx install 'moto[s3,iam,server]' >/dev/null 2>&1 || echo "moto could not be installed: its tests are not run." >&2
