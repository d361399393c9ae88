// Package server pins the version of the etcd server that tests run. The server is the tool of this
// module, so that the client does not depend on the server. See package etcdtest.
package server
