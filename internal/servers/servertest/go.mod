module github.com/firn-id/firn/internal/servers/servertest

go 1.26.0

require github.com/firn-id/firn/lease/drivertest v0.1.0

require (
	github.com/anishathalye/porcupine v1.3.1 // indirect
	github.com/firn-id/firn v0.1.0
)
