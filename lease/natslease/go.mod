module github.com/firn-id/firn/lease/natslease

go 1.26.0

replace (
	github.com/firn-id/firn => ../..
	github.com/firn-id/firn/lease/drivertest => ../drivertest
)

require (
	github.com/firn-id/firn v0.0.0
	github.com/firn-id/firn/lease/drivertest v0.0.0
	github.com/nats-io/nats.go v1.55.0
	github.com/nats-io/nkeys v0.4.16
)

require (
	github.com/anishathalye/porcupine v1.3.1 // indirect
	github.com/klauspost/compress v1.20.0 // indirect
	github.com/nats-io/nuid v1.0.1 // indirect
	golang.org/x/crypto v0.57.0 // indirect
	golang.org/x/sys v0.48.0 // indirect
)
