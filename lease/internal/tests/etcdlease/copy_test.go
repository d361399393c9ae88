package etcdlease_test

import (
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/firn-id/firn/internal/testing/etcdtest"
	"github.com/firn-id/firn/internal/testing/storetest"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/drivertest"
	"github.com/firn-id/firn/lease/etcdlease"
)

// TestCopied copies the keys to another prefix, and to another cluster, as etcdctl make-mirror does.
func TestCopied(t *testing.T) {
	t.Parallel()
	one, two := etcdtest.New(t, etcdtest.Config{Members: 1}), etcdtest.New(t, etcdtest.Config{Members: 1})
	for from, to := range map[string]struct {
		cluster *etcdtest.Cluster
		prefix  string
	}{"a": {one, "b"}, "c": {two, "c"}} {
		drivertest.Copied(t, storetest.Open(t, etcdlease.Open, one.Address(from)), func() driver.Store {
			source, target := client(t, one.Endpoints()...), client(t, to.cluster.Endpoints()...)
			for _, kv := range testkit.Must(source.Get(t.Context(), from+"/", clientv3.WithPrefix())).Kvs {
				testkit.Must(target.Put(t.Context(), to.prefix+"/"+strings.TrimPrefix(string(kv.Key), from+"/"), string(kv.Value)))
			}
			return storetest.Open(t, etcdlease.Open, to.cluster.Address(to.prefix))
		})
	}
}
