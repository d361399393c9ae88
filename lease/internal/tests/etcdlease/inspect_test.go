package etcdlease_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"github.com/firn-id/firn/internal/testing/etcdtest"
	"github.com/firn-id/firn/internal/testing/services"
	"github.com/firn-id/firn/internal/testing/storetest"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/etcdlease"
)

func inspecting(t *testing.T, c *etcdtest.Cluster) {
	s := storetest.Open(t, etcdlease.Open, c.Address(space()))
	storetest.Put(t, s, "a", "", driver.None)
	storetest.Findings(t, s)
	raw := client(t, c.Endpoints()...)

	alarms := pb.NewMaintenanceClient(raw.ActiveConnection())
	first := func(alarm pb.AlarmType, action pb.AlarmRequest_AlarmAction) {
		t.Helper()
		members, err := raw.MemberList(t.Context())
		testkit.OK(t, err)
		if _, err := alarms.Alarm(t.Context(), &pb.AlarmRequest{Action: action, Alarm: alarm, MemberID: members.Members[0].ID}); err != nil {
			t.Fatal(err)
		}
	}
	first(pb.AlarmType_CORRUPT, pb.AlarmRequest_ACTIVATE)
	_, err := s.Put(t.Context(), "b", nil, driver.None)
	storetest.Fails(t, "the error", err, driver.ErrUnsafe, "corrupt", "remedy: settings")
	storetest.FindingsLose(t, s, true, "alarm CORRUPT")
	first(pb.AlarmType_CORRUPT, pb.AlarmRequest_DEACTIVATE)
	storetest.Findings(t, s)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	testkit.Is(t, testkit.Err(s.Inspect(ctx)), context.Canceled, "with a context that has ended")
}

// A database that fills up, on a cluster of one member.
func TestNoSpace(t *testing.T) {
	services.Full(t)
	t.Parallel()
	const quota = 2 << 20
	// A member reports the size at its last commit. By default that was up to 100 ms ago, and some
	// hundred changes.
	c := etcdtest.New(t, etcdtest.Config{Members: 1, Args: []string{"--quota-backend-bytes", fmt.Sprint(quota), "--backend-batch-limit", "10"}})
	s := storetest.Open(t, etcdlease.Open, c.Address("p"))
	storetest.FindingsLose(t, s, true, "single member")
	var value, asked string
	rev := driver.None
	var err error
	for i := range 1000 {
		asked = fmt.Sprintf("%0*d", driver.MaxValue, i)
		made, failed := s.Put(t.Context(), "a", []byte(asked), rev)
		if err = failed; err != nil {
			break
		}
		rev, value = made, asked
	}
	storetest.Fails(t, "the error", err, driver.ErrUnavailable, "space exceeded", "remedy: settings")
	if !errors.Is(err, rpctypes.ErrNoSpace) {
		t.Errorf("%v is not etcd's error", err)
	}
	// A member may notice a full disk after making a change, so the last change may be there.
	e, err := s.Get(t.Context(), "a")
	if got := string(e.Value); err != nil || !(e.Revision == rev && got == value) && !(e.Revision != rev && got == asked) {
		t.Errorf("at %q is %.8q, %v; want what was acknowledged, %.8q at %q, or asked for after it", e.Revision, got, err, value, rev)
	}
	storetest.FindingsLose(t, s, true, "single member", "alarm NOSPACE")

	// As the finding advises.
	raw := client(t, c.Endpoint(0))
	got, err := raw.Get(t.Context(), "a")
	testkit.OK(t, err)
	_, err = raw.Compact(t.Context(), got.Header.Revision, clientv3.WithCompactPhysical()) // else the space is free only later
	testkit.OK(t, err)
	_, err = raw.Defragment(t.Context(), c.Endpoint(0))
	testkit.OK(t, err)
	_, err = raw.AlarmDisarm(t.Context(), &clientv3.AlarmMember{})
	testkit.OK(t, err)
	storetest.Put(t, s, "a", "", e.Revision)
	storetest.FindingsLose(t, s, true, "single member")
}
