// Package monitoring shows how a program counts what happens to its leases, with Prometheus or with
// OpenTelemetry. The package is for copying: docs/monitoring.md has the same code.
package monitoring
