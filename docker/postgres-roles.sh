#!/bin/sh
# The roles of docs/operations/database.md, in a new cluster: the owner of the database, who migrates it; what the apps act as;
# and their login. None of them is a superuser.
set -eu
secrets=${SECRETS_FOLDER:-/run/secrets}
psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" \
  --set owner_password="$(cat "$secrets/database_owner_password")" \
  --set service_password="$(cat "$secrets/database_password")" \
  --set database="$POSTGRES_DB" <<'SQL'
CREATE ROLE iss_app NOLOGIN;
CREATE ROLE iss_owner LOGIN PASSWORD :'owner_password' IN ROLE iss_app;
CREATE ROLE iss_service LOGIN PASSWORD :'service_password' IN ROLE iss_app;
ALTER DATABASE :"database" OWNER TO iss_owner;
REVOKE CONNECT, TEMPORARY ON DATABASE :"database" FROM PUBLIC;
GRANT CONNECT ON DATABASE :"database" TO iss_service;
SQL
