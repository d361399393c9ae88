package etcdlease

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/firn-id/firn/lease/driver"
)

// Inspect looks for what loses changes, and for what refuses them: at the members, the alarms and the
// keys. It cannot see members with --unsafe-no-fsync, or which disks hold the data.
func (s *Store) Inspect(ctx context.Context) ([]driver.Finding, error) {
	return driver.Call(ctx, s.Handle, "inspect", func(ctx context.Context) (found []driver.Finding, _ error) {
		for _, look := range []func(context.Context) ([]driver.Finding, error){s.inspectCluster, s.inspectKeys} {
			some, err := look(ctx)
			found = append(found, some...)
			if err != nil {
				return found, err
			}
		}
		return driver.WorstFirst(found), nil
	})
}

// inspectCluster looks at the members and their alarms.
func (s *Store) inspectCluster(ctx context.Context) (found []driver.Finding, err error) {
	var members []*pb.Member
	var alarms []*pb.AlarmMember
	err = s.call(ctx, reading, func(ctx context.Context) (*pb.ResponseHeader, error) {
		list, err := s.client.MemberList(ctx)
		if err != nil {
			return nil, err
		}
		all, err := s.client.AlarmList(ctx)
		if err != nil {
			return nil, err
		}
		members, alarms = list.Members, all.Alarms
		return nil, nil // these have no revision
	})
	if err != nil {
		return nil, err
	}
	loses := func(advice, format string, args ...any) {
		found = append(found, driver.Finding{Loses: true, Text: fmt.Sprintf(format, args...), Advice: advice})
	}
	endpoints := s.client.Endpoints()
	named := len(endpoints) // in the address
	names, voters := make(map[uint64]string), 0
	for _, m := range members {
		names[m.ID] = cmp.Or(m.Name, fmt.Sprintf("%x", m.ID))
		endpoints = append(endpoints, m.ClientURLs...)
		if !m.IsLearner {
			voters++
		}
	}
	if voters == 1 {
		loses("use three members on three machines",
			"the cluster has a single member: if its disk is lost, acknowledged changes are lost, and no lease can renew until the member is up again")
	}
	for _, a := range alarms {
		switch a.Alarm {
		case pb.AlarmType_CORRUPT:
			loses("replace the member that is wrong, as etcd's documentation says of the alarm",
				"the data of member %s differ from those of the others (alarm CORRUPT)", names[a.MemberID])
		case pb.AlarmType_NOSPACE:
			found = append(found, driver.Finding{Blocks: true,
				Text:   fmt.Sprintf("the database of member %s is or was full, and the cluster takes no changes (alarm NOSPACE)", names[a.MemberID]),
				Advice: "compact and defragment the database, or raise --quota-backend-bytes; then clear the alarm with etcdctl alarm disarm"})
		}
	}
	for n, r := range s.statuses(ctx, endpoints) {
		switch {
		case r == nil: // down, or not to be reached from here
		case n < named && r.Header.ClusterId != s.cluster:
			loses("name only members of one cluster", "%s is a member of another cluster: what is written there is not known here", hostOf(endpoints[n]))
		case names[r.Header.MemberId] != "" && knownBad(r.Version):
			loses("upgrade it: to 3.4.22, 3.5.6 or later", "member %s is etcd %s, which can come to differ from the others by a crash or a defragmentation",
				names[r.Header.MemberId], r.Version)
			delete(names, r.Header.MemberId) // it may have several endpoints
		}
	}
	return found, nil
}

// statuses asks the members at endpoints for their status, which is nil where none answers in time.
func (s *Store) statuses(ctx context.Context, endpoints []string) []*clientv3.StatusResponse {
	deadline, _ := ctx.Deadline() // there is one
	ctx, cancel := context.WithTimeout(ctx, time.Until(deadline)/3)
	defer cancel()
	statuses := make([]*clientv3.StatusResponse, len(endpoints))
	var all sync.WaitGroup
	for n, endpoint := range endpoints {
		all.Go(func() {
			if r, err := s.client.Status(ctx, endpoint); err == nil {
				statuses[n] = r
			}
		})
	}
	all.Wait()
	return statuses
}

// knownBad reports whether etcd's authors advise against a version, because the data of members can
// come to differ.
func knownBad(version string) bool {
	var major, minor, patch int
	n, _ := fmt.Sscanf(version, "%d.%d.%d", &major, &minor, &patch)
	return n == 3 && major == 3 && (minor < 4 || minor == 4 && patch < 22 || minor == 5 && patch < 6)
}

// inspectKeys looks at the keys under the prefix.
func (s *Store) inspectKeys(ctx context.Context) (found []driver.Finding, err error) {
	expiring := 0
	err = s.scan(ctx, "", func(r *clientv3.GetResponse) {
		for _, kv := range r.Kvs {
			if kv.Lease != 0 && driver.CheckKey(string(kv.Key[len(s.prefix):])) == nil {
				expiring++
			}
		}
	})
	if expiring > 0 {
		found = append(found, driver.Finding{Loses: true,
			Text:   fmt.Sprintf("%d entries are tied to leases of etcd's, and will be deleted with them: times that were given out would be given out again", expiring),
			Advice: "take the lease of etcd's off each of them (etcdctl put --ignore-value KEY, which keeps the value), and see what has tied them"})
	}
	return found, err
}
