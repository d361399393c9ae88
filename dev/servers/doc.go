// Package servers has the tests of the store in Kubernetes on a real server, which package servertest starts. The tests
// also compare the server with the one that pretends.
//
//	FIRN_REAL_SERVERS=1 go test -C dev -timeout 1h ./servers
package servers
