#!/usr/bin/env bash
# verify.sh: bash verify.sh <body
# The headers are in WEBHOOK_ID, WEBHOOK_TIMESTAMP, WEBHOOK_SIGNATURE and X_SERVICE_SIGNATURE; exit code 0: it fits.
set -euo pipefail
body=$(mktemp)
trap 'rm -f "$body"' EXIT
cat >"$body"

hex() { od -An -v -tx1 | tr -d ' \n'; }
hmac() { openssl dgst -sha256 -mac HMAC -macopt "hexkey:$1" -binary; }
# Digests of the two are compared, so that the time tells nothing of where they differ.
same() { [[ $(printf %s "$1" | openssl dgst -sha256) == $(printf %s "$2" | openssl dgst -sha256) ]]; }

webhook_signature_fits() {
  [[ ${WEBHOOK_TIMESTAMP:-} =~ ^[0-9]{1,12}$ ]] || return 1
  local age=$(($(date +%s) - 10#$WEBHOOK_TIMESTAMP)) key expected signature
  ((age <= 300 && age >= -300)) || return 1
  key=$(printf %s "${WEBHOOK_SECRET#whsec_}" | openssl base64 -d -A | hex)
  expected=v1,$({ printf '%s.%s.' "${WEBHOOK_ID:-}" "$WEBHOOK_TIMESTAMP" && cat "$body"; } | hmac "$key" | openssl base64 -A)
  read -ra signatures <<<"${WEBHOOK_SIGNATURE:-}"
  for signature in "${signatures[@]}"; do
    same "$signature" "$expected" && return 0
  done
  return 1
}

service_signature_fits() {
  same "${X_SERVICE_SIGNATURE:-}" "$(hmac "$(printf %s "$WEBHOOK_SECRET" | hex)" <"$body" | hex)"
}

if [[ ${WEBHOOK_SCHEME:-webhook} == service ]]; then service_signature_fits; else webhook_signature_fits; fi
