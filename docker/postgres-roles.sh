#!/bin/sh
# Creates the roles of docs/operations/database.md in a new cluster: the owner of the database, who migrates it, and for each
# app a role with its rights and a login. None of them is a superuser.
set -eu
secrets=${SECRETS_FOLDER:-/run/secrets}
psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" \
  --set owner_password="$(cat "$secrets/database_owner_password")" \
  --set gateway_password="$(cat "$secrets/gateway_database_password")" \
  --set worker_password="$(cat "$secrets/worker_database_password")" \
  --set database="$POSTGRES_DB" <<'SQL'
CREATE ROLE iss_app NOLOGIN;
CREATE ROLE iss_gateway NOLOGIN;
CREATE ROLE iss_worker NOLOGIN;
CREATE ROLE iss_owner LOGIN PASSWORD :'owner_password' IN ROLE iss_app, iss_gateway, iss_worker;
CREATE ROLE iss_gateway_login LOGIN PASSWORD :'gateway_password' IN ROLE iss_gateway;
CREATE ROLE iss_worker_login LOGIN PASSWORD :'worker_password' IN ROLE iss_worker;
ALTER DATABASE :"database" OWNER TO iss_owner;
REVOKE CONNECT, TEMPORARY ON DATABASE :"database" FROM PUBLIC;
GRANT CONNECT ON DATABASE :"database" TO iss_gateway_login, iss_worker_login;
SQL
