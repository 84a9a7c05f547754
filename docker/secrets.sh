#!/bin/sh
# Creates the secrets of compose.yaml as files in docker/secrets, or in the folder of the first argument. Keeps existing files.
# Containers read the files as different users, so everybody may read the files, but only the owner may open the folder.
set -eu
folder=${1:-$(dirname "$0")/secrets}
umask 077
mkdir -p "$folder"
cd "$folder"

hex() {
  head -c "$1" /dev/urandom | od -An -v -tx1 | tr -d ' \n'
}

make() {
  if [ ! -s "$1" ]; then
    cat > "$1.new"
    chmod 444 "$1.new"
    mv "$1.new" "$1"
    echo "made $1"
  fi
}

for name in postgres_password database_owner_password gateway_database_password worker_database_password redis_password; do
  hex 24 | make "$name"
done
# Never change these two while data exists that they encrypted or named. Keep them with the backups.
echo "k1:$(head -c 32 /dev/urandom | base64 | tr -d '\n')" | make secrets_keys
hex 32 | make snapshot_id_secret

echo "postgres://iss_owner:$(cat database_owner_password)@postgres:5432/iss" | make database_owner_url
echo "postgres://iss_gateway_login:$(cat gateway_database_password)@postgres:5432/iss" | make gateway_database_url
echo "postgres://iss_worker_login:$(cat worker_database_password)@postgres:5432/iss" | make worker_database_url
echo "requirepass $(cat redis_password)" | make redis_password_conf
echo "redis://:$(cat redis_password)@redis:6379" | make queue_url
