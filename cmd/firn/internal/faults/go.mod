module github.com/firn-id/firn/cmd/firn/internal/faults

go 1.26.0

replace (
	github.com/firn-id/firn => ../../../..
	github.com/firn-id/firn/cmd/firn => ../../../../cmd/firn
	github.com/firn-id/firn/internal/servers/servertest => ../../../../internal/servers/servertest
	github.com/firn-id/firn/lease/drivertest => ../../../../lease/drivertest
	github.com/firn-id/firn/lease/etcdlease => ../../../../lease/etcdlease
	github.com/firn-id/firn/lease/pglease => ../../../../lease/pglease
)

require (
	github.com/firn-id/firn v0.0.0
	github.com/firn-id/firn/cmd/firn v0.0.0-00010101000000-000000000000
	github.com/firn-id/firn/internal/servers/pgtest v0.0.0-00010101000000-000000000000
	github.com/firn-id/firn/internal/servers/servertest v0.0.0
	github.com/firn-id/firn/lease/etcdlease v0.0.0
	github.com/firn-id/firn/lease/pglease v0.0.0
)

require (
	github.com/coreos/go-semver v0.3.1 // indirect
	github.com/coreos/go-systemd/v22 v22.7.0 // indirect
	github.com/golang/protobuf v1.5.4 // indirect
	github.com/grpc-ecosystem/grpc-gateway/v2 v2.29.0 // indirect
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	github.com/jackc/pgx/v5 v5.12.0 // indirect
	github.com/jackc/puddle/v2 v2.2.3 // indirect
	github.com/lanrat/extsort v1.5.0 // indirect
	go.etcd.io/etcd/api/v3 v3.7.3 // indirect
	go.etcd.io/etcd/client/pkg/v3 v3.7.3 // indirect
	go.etcd.io/etcd/client/v3 v3.7.3 // indirect
	go.uber.org/multierr v1.11.0 // indirect
	go.uber.org/zap v1.27.1 // indirect
	golang.org/x/net v0.61.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.43.0 // indirect
	google.golang.org/genproto/googleapis/api v0.0.0-20260803160001-6ac0973c030d // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20260803160001-6ac0973c030d // indirect
	google.golang.org/grpc v1.83.2 // indirect
	google.golang.org/protobuf v1.36.11 // indirect
)

replace github.com/firn-id/firn/lease/natslease => ../../../../lease/natslease

replace github.com/firn-id/firn/lease/redislease => ../../../../lease/redislease

replace github.com/firn-id/firn/internal/servers/pgtest => ../../../../internal/servers/pgtest
