// Package servers has the tests of stores on real servers of Consul and of Kubernetes, which package servertest
// starts. The tests also compare the real servers with those that pretend.
//
//	FIRN_REAL_SERVERS=1 go test -C dev -timeout 1h ./servers
package servers
