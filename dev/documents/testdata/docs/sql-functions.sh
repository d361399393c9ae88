# The databases app, each with a table of orders. MariaDB's has another name, because the server is shared.
psql -q -d postgres -c 'CREATE DATABASE app'
psql -q -d app -c 'CREATE TABLE orders (id bigint PRIMARY KEY, customer text) PARTITION BY RANGE (id)'
sqlite3 app.db 'CREATE TABLE orders (id INTEGER PRIMARY KEY, customer TEXT)'
mariadb() {
	MYSQL_PWD=$MARIADB_PASSWORD command mariadb -h "$MARIADB_HOST" -P "$MARIADB_PORT" -u "$MARIADB_USER" "${@/#app/$MARIADB_NAME}"
}
block_sql() {
	if grep -q 'datetime(' "$1"; then
		sqlite3 -bail app.db <"$1"
	else
		sed "s/\\\$[12]/'2026-07-01Z'::timestamptz/g" "$1" | psql -v ON_ERROR_STOP=1 app
	fi
}
