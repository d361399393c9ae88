package etcdlease_test

import (
	"encoding/json"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/firn-id/firn/internal/testing/etcdtest"
	"github.com/firn-id/firn/internal/testing/storetest"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/etcdlease"
	"github.com/firn-id/firn/lease/internal/tests/released"
)

// TestReleased has a prefix for the keys that a released version has written.
func TestReleased(t *testing.T) {
	c := etcdtest.New(t, etcdtest.Config{Members: 1})
	raw := client(t, c.Endpoints()...)
	released.Test(t, "etcd.json", func(t *testing.T) released.Server {
		return &ofRelease{t, c, raw, space()}
	})
}

type ofRelease struct {
	t       *testing.T
	cluster *etcdtest.Cluster
	raw     *clientv3.Client
	prefix  string
}

func (r *ofRelease) Load(content string) error {
	var pairs map[string]string
	if err := json.Unmarshal([]byte(strings.ReplaceAll(content, released.Space, r.prefix)), &pairs); err != nil {
		return err
	}
	for key, value := range pairs {
		if _, err := r.raw.Put(r.t.Context(), key, value); err != nil {
			return err
		}
	}
	return nil
}

func (r *ofRelease) Open() driver.Store {
	return storetest.Open(r.t, etcdlease.Open, r.cluster.Address(r.prefix))
}

func (r *ofRelease) Dump() (string, error) {
	found, err := r.raw.Get(r.t.Context(), r.prefix, clientv3.WithPrefix())
	if err != nil {
		return "", err
	}
	pairs := make(map[string]string)
	for _, kv := range found.Kvs {
		if kv.Lease != 0 {
			r.t.Errorf("%s has a time to live", kv.Key)
		}
		pairs[string(kv.Key)] = string(kv.Value)
	}
	content, err := json.MarshalIndent(pairs, "", "  ")
	return strings.ReplaceAll(string(content)+"\n", r.prefix, released.Space), err
}
