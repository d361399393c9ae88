// Package server pins the version of the etcd server that tests run, as a tool of this module, which has
// nothing else: so the client does not depend on it. See package etcdtest.
package server
