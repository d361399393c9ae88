package etcdlease_test

import (
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/firn-id/firn/internal/testing/etcdtest"
	"github.com/firn-id/firn/internal/testing/services"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/internal/testing/turn"
	"github.com/firn-id/firn/internal/testing/wait"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/drivertest"
)

// TestConfirmCutOff cuts the leader off from the other members, which elect another leader.
func TestConfirmCutOff(t *testing.T) {
	services.Full(t)
	turn.Take(t)
	c := etcdtest.New(t, etcdtest.Config{Args: quick})
	leader, err := c.Leader(t.Context())
	testkit.OK(t, err)
	prefix := space()
	drivertest.CutOff(t, hasty(t, only(c, leader, prefix)), func() driver.Store {
		c.Isolate(leader)
		var others []string
		for i, endpoint := range c.Endpoints() {
			if i != leader {
				others = append(others, endpoint)
			}
		}
		return hasty(t, "etcd://"+strings.Join(others, ",")+"/"+prefix)
	})

	// A read of the member's own state shows the past: the test shows something.
	wait.Until(t, "the member that was cut off shows its own state", func() bool {
		r, err := client(t, c.Endpoint(leader)).Get(t.Context(), prefix+"/cut/off", clientv3.WithSerializable())
		return err == nil && len(r.Kvs) == 1 && string(r.Kvs[0].Value) == "before"
	})
}
