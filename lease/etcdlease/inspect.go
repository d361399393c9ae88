package etcdlease

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/internal/findings"
)

// fullness is the percentage of the quota from which a database counts as nearly full.
const fullness = 80

// Inspect looks at the members, the alarms and the keys. It cannot see members with
// --unsafe-no-fsync, or which disks hold the data.
func (s *Store) Inspect(ctx context.Context) ([]driver.Finding, error) {
	return driver.Call(ctx, s.Handle, "inspect", s.inspect)
}

func (s *Store) inspect(ctx context.Context) ([]driver.Finding, error) {
	i := &inspection{store: s}
	if err := i.findMembers(ctx); err != nil {
		return nil, err
	}
	i.askMembers(ctx)
	if i.led() { // without a leader, each member knows only its own state
		i.findAlarms(ctx)
		i.keys(ctx)
	}
	i.membership()
	i.versions()
	i.access(ctx)
	return i.All(), nil
}

type inspection struct {
	store   *Store
	members []*member
	hosts   []answer // of the address
	findings.List
}

type member struct {
	*pb.Member
	answer
}

// An answer is the status of a member at one endpoint, or the error.
type answer struct {
	endpoint string
	status   *clientv3.StatusResponse
	err      error
}

func (m *member) name() string {
	if m.Name == "" {
		return fmt.Sprintf("%x", m.ID)
	}
	return m.Name
}

// call makes a request, and diagnoses the error.
func (i *inspection) call(ctx context.Context, does purpose, request func(context.Context) (*pb.ResponseHeader, error)) error {
	return driver.Do(ctx, i.store.Handle, "inspect", func(ctx context.Context) error { return i.store.call(ctx, does, request) })
}

// findMembers asks for the list of members: a majority first, then a single member: it answers
// without a leader.
func (i *inspection) findMembers(ctx context.Context) error {
	some, cancel := part(ctx)
	defer cancel()
	err := i.listMembers(some, reading)
	if err != nil && ctx.Err() == nil {
		err = i.listMembers(ctx, looking, clientv3.WithSerializable())
	}
	return err
}

func (i *inspection) listMembers(ctx context.Context, does purpose, opts ...clientv3.OpOption) error {
	return i.call(ctx, does, func(ctx context.Context) (*pb.ResponseHeader, error) {
		r, err := i.store.client.MemberList(ctx, opts...)
		if err != nil {
			return nil, err
		}
		i.members = nil
		for _, m := range r.Members {
			i.members = append(i.members, &member{Member: m})
		}
		return nil, nil // it has no revision
	})
}

// part returns a context for one request of several.
func part(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, _ := ctx.Deadline() // there is one
	return context.WithTimeout(ctx, time.Until(deadline)/3)
}

func (i *inspection) findAlarms(ctx context.Context) {
	ctx, cancel := part(ctx)
	defer cancel()
	var alarms []*pb.AlarmMember
	err := i.call(ctx, reading, func(ctx context.Context) (*pb.ResponseHeader, error) {
		r, err := i.store.client.AlarmList(ctx)
		if err == nil {
			alarms = r.Alarms
		}
		return nil, err
	})
	if err != nil {
		i.Unknown("which alarms there are", err)
		return
	}
	for _, a := range alarms {
		member := fmt.Sprintf("%x", a.MemberID)
		for _, m := range i.members {
			if m.ID == a.MemberID {
				member = m.name()
			}
		}
		switch a.Alarm {
		case pb.AlarmType_CORRUPT:
			i.Loses("replace the member that is wrong, as etcd's documentation says of the alarm", "the data of member %s differ from those of the others (alarm CORRUPT)", member)
		case pb.AlarmType_NOSPACE:
			i.Note("compact and defragment the database, or raise --quota-backend-bytes; then clear the alarm with etcdctl alarm disarm",
				"the database of member %s is or was full, and the cluster takes no changes (alarm NOSPACE)", member)
		}
	}
}

// askMembers asks each host of the address, and then all other members at the advertised endpoints.
func (i *inspection) askMembers(ctx context.Context) {
	var hosts, others sync.WaitGroup
	endpoints := i.store.client.Endpoints()
	i.hosts = make([]answer, len(endpoints))
	for n, endpoint := range endpoints {
		hosts.Go(func() { i.hosts[n] = i.ask(ctx, endpoint) })
	}
	hosts.Wait()
	for _, m := range i.members {
		for _, h := range i.hosts {
			if h.err == nil && h.status.Header.MemberId == m.ID {
				m.answer = h
			}
		}
		if m.status == nil {
			others.Go(func() {
				m.err = errors.New("it gives out no endpoint")
				for _, endpoint := range m.ClientURLs {
					m.answer = i.ask(ctx, endpoint)
					if m.err == nil && m.status.Header.MemberId != m.ID {
						m.answer = answer{endpoint: endpoint, err: errors.New("another member answers there")}
					}
					if m.err == nil {
						return
					}
				}
			})
		}
	}
	others.Wait()
}

func (i *inspection) ask(ctx context.Context, endpoint string) answer {
	ctx, cancel := part(ctx)
	defer cancel()
	a := answer{endpoint: endpoint}
	if a.status, a.err = i.store.client.Status(ctx, endpoint); a.err != nil {
		a.err = serverError{a.err}
	}
	return a
}

// led reports whether a member has a leader by its own account.
func (i *inspection) led() bool {
	return slices.ContainsFunc(i.members, func(m *member) bool { return m.status != nil && m.status.Leader != 0 })
}

func (i *inspection) membership() {
	voters, down := 0, 0
	for _, m := range i.members {
		if !m.IsLearner {
			voters++
		}
	}
	for _, h := range i.hosts {
		if h.err == nil && h.status.Header.ClusterId != i.store.cluster {
			i.Loses("name only members of one cluster", "%s is a member of another cluster: what is written there is not known here", hostOf(h.endpoint))
		}
	}
	if voters == 1 {
		i.Loses("use three members on three machines",
			"the cluster has a single member: if its disk is lost, acknowledged changes are lost, and no lease can renew until the member is up again")
	}
	for _, m := range i.members {
		switch {
		case m.Name == "" && len(m.ClientURLs) == 0:
			i.Note("start it, or remove it: etcdctl member remove "+m.name(), "member %s was added, but has never been started", m.name())
		case m.err != nil:
			i.Note("see whether it runs, and whether it gives out an endpoint that can be reached from here (--advertise-client-urls)",
				"member %s does not answer at %s: %v", m.name(), hostOf(m.endpoint), m.err)
		case m.status.Leader == 0:
			i.Note("see that it reaches the other members", "member %s has no leader: it is cut off, or less than a majority is up", m.name())
		default:
			i.quota(m)
			continue
		}
		if !m.IsLearner {
			down++
		}
	}
	switch {
	case voters-down <= voters/2:
		i.Note("start members until more than half of them are up", "%d of %d members are in order, which is not a majority: nothing can be read or written", voters-down, voters)
	case voters == 2:
		i.Note("use three members", "the cluster has two members: without either of them it stops")
	}
	for _, m := range i.members {
		if m.IsLearner {
			i.Note("promote it when it has caught up: etcdctl member promote "+fmt.Sprintf("%x", m.ID), "member %s is a learner: it does not count for a majority, nor serve this store", m.name())
		}
	}
	i.named(down)
}

// named looks at the members in the address.
func (i *inspection) named(down int) {
	named := make(map[uint64]bool)
	for _, h := range i.hosts {
		if h.err == nil {
			named[h.status.Header.MemberId] = true
			continue
		}
		if down == 0 { // otherwise the host is probably a member that is down
			i.Note("take it out of the address, or see what is there", "%s of the address does not answer: %v", hostOf(h.endpoint), h.err)
		}
	}
	if len(i.hosts) == 1 && len(i.members) > 1 && down == 0 {
		i.Note("name all members in the address, if this is not one for all of them",
			"the address names one host of a cluster of %d members: without it the store is out of reach, though the cluster is not", len(i.members))
	}
}

// quota looks at how full a member's database is. Members before version 3.6 do not report the
// quota.
func (i *inspection) quota(m *member) {
	if quota := m.status.DbSizeQuota; quota > 0 && m.status.DbSize*100 >= quota*fullness {
		i.Note("compact and defragment it, or raise --quota-backend-bytes, before the cluster takes no more changes",
			"the database of member %s has %d MB of the %d MB that it may have", m.name(), m.status.DbSize>>20, quota>>20)
	}
}

func (i *inspection) versions() {
	var all []string
	for _, m := range i.members {
		if m.status == nil {
			continue
		}
		if !slices.Contains(all, m.status.Version) {
			all = append(all, m.status.Version)
		}
		if knownBad(m.status.Version) {
			i.Loses("upgrade it: to 3.4.22, 3.5.6 or later", "member %s is etcd %s, which can come to differ from the others by a crash or a defragmentation", m.name(), m.status.Version)
		}
	}
	if len(all) > 1 {
		slices.Sort(all)
		i.Note("bring all members to one version", "the members are of different versions: %s", strings.Join(all, ", "))
	}
}

// knownBad reports whether etcd's authors advise against a version, because the data of members can
// come to differ.
func knownBad(version string) bool {
	version, _, _ = strings.Cut(version, "-")
	parts := strings.Split(version, ".")
	if len(parts) != 3 {
		return false
	}
	var n [3]int
	for i, part := range parts {
		var err error
		if n[i], err = strconv.Atoi(part); err != nil {
			return false
		}
	}
	return n[0] == 3 && (n[1] < 4 || n[1] == 4 && n[2] < 22 || n[1] == 5 && n[2] < 6)
}

// keys looks at the keys under the prefix.
func (i *inspection) keys(ctx context.Context) {
	foreign, expiring, example := 0, 0, ""
	err := driver.Do(ctx, i.store.Handle, "inspect", func(ctx context.Context) error {
		return i.store.scan(ctx, "", func(r *clientv3.GetResponse) {
			for _, kv := range r.Kvs {
				if driver.CheckKey(string(kv.Key[len(i.store.prefix):])) != nil {
					foreign++
					example = string(kv.Key)
				} else if kv.Lease != 0 {
					expiring++
				}
			}
		})
	})
	if err != nil {
		i.Unknown("what is under the prefix", err)
	}
	if expiring > 0 {
		i.Loses("take the lease of etcd's off each of them (etcdctl put --ignore-value KEY, which keeps the value), and see what has tied them",
			"%d entries are tied to leases of etcd's, and will be deleted with them: times that were given out would be given out again", expiring)
	}
	if foreign > 0 {
		i.Note("have it use a separate prefix, and remove those keys", "something else writes under the prefix %s: %d keys do not belong to a store of leases, such as %.100q", i.store.prefix, foreign, example)
	}
}

// access looks at the login and at TLS.
func (i *inspection) access(ctx context.Context) {
	if i.store.exposed {
		i.Note("use TLS: tls=true or ca", "the password goes over the network in clear")
	}
	if !i.store.login {
		return
	}
	if r, err := i.store.client.AuthStatus(ctx); err == nil && !r.Enabled {
		i.Note("turn it on (etcdctl auth enable) when the user has its rights, or leave the user out of the address", "authentication is off: the user and the password are not looked at, and anybody can change the entries")
	}
}
