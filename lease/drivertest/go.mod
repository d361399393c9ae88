module github.com/firn-id/firn/lease/drivertest

go 1.26.0

require (
	github.com/anishathalye/porcupine v1.3.1
	github.com/firn-id/firn v0.1.0
)
