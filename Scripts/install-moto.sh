#!/usr/bin/env bash
# Installs the S3 server that the tests of LoadingKitS3 talk to, where it is missing.
set -euo pipefail

command -v moto_server >/dev/null && exit 0
"$(dirname "$0")/install-packages.sh" pipx
echo "Installing moto with pipx."
pipx install 'moto[s3,iam,server]' >/dev/null
