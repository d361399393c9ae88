module github.com/firn-id/firn/pgxid

go 1.26.0

require (
	github.com/firn-id/firn v0.1.0
	github.com/jackc/pgx/v5 v5.12.0
)
