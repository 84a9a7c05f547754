#!/bin/sh
# Makes the secrets of compose.yaml, a file each, in docker/secrets (or the folder that is named). What is there stays as it is.
# In the containers they are read by users whose numbers differ: the folder keeps others out, and the files let read.
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
# Both must stay the same for ever, or as long as what they sealed and named is there: keep them with the backups.
echo "k1:$(head -c 32 /dev/urandom | base64 | tr -d '\n')" | make secrets_keys
hex 32 | make snapshot_id_secret

echo "postgres://iss_owner:$(cat database_owner_password)@postgres:5432/iss" | make database_owner_url
echo "postgres://iss_gateway_login:$(cat gateway_database_password)@postgres:5432/iss" | make gateway_database_url
echo "postgres://iss_worker_login:$(cat worker_database_password)@postgres:5432/iss" | make worker_database_url
echo "requirepass $(cat redis_password)" | make redis_password_conf
echo "redis://:$(cat redis_password)@redis:6379" | make queue_url
