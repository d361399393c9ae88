package etcdlease_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"github.com/firn-id/firn/internal/testing/advice"
	"github.com/firn-id/firn/internal/testing/etcdtest"
	"github.com/firn-id/firn/internal/testing/minter"
	"github.com/firn-id/firn/internal/testing/services"
	"github.com/firn-id/firn/internal/testing/sources"
	"github.com/firn-id/firn/internal/testing/storetest"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/internal/testing/turn"
	"github.com/firn-id/firn/internal/testing/wait"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/etcdlease"
)

// TestAdvice follows the advice of errors and of findings, on real clusters. The commands of etcdctl are
// calls of the client here.
func TestAdvice(t *testing.T) {
	services.Full(t)
	turn.Take(t)
	v := &advised{
		three: etcdtest.New(t, etcdtest.Config{Args: append(slices.Clip(quick), careless, "--strict-reconfig-check=false", "--bcrypt-cost", "4")}),
		one:   etcdtest.New(t, etcdtest.Config{Members: 1, Args: []string{careless, "--quota-backend-bytes", fmt.Sprint(quota), "--backend-batch-limit", "1"}}),
	}
	v.raw = client(t, v.three.Endpoint(0))
	advice.Check(t, advice.Test{
		Tables: [][]advice.Fault{v.hosts(), v.members(), v.inspected(), v.entries(), v.databases(), v.users(t), v.secure(t)},
		Texts:  sources.Texts(t, filepath.Join("..", "..", "..", "etcdlease")),
		Least:  41,
	})
}

// there begins the advice about hosts that do not speak as etcd does.
const there = "see that etcd listens there, on the port for clients, and that the network lets you through; "

// careless makes servers not wait for the disk. The members of these tests crash, but the machine does not.
const careless = "--unsafe-no-fsync"

// quota is for a database that is soon full.
const quota = 2 << 20

// advised is the clusters of [TestAdvice].
type advised struct {
	three, one *etcdtest.Cluster
	raw        *clientv3.Client // of the first member of three, which always is a member
	login      bool             // three has users
}

// open opens a store, closes it, and returns the error.
func open(t *testing.T, addr string) error {
	s, err := etcdlease.Open(t.Context(), storetest.Patient(addr))
	if err == nil {
		s.Close()
	}
	return err
}

// refusal returns a fault that Open meets at the address. The ways are addresses.
func refusal(name, addr string, ways ...string) advice.Fault {
	f := advice.Changed(open, addr, ways...)
	f.Name = name
	return f
}

// finds waits until Inspect has a finding, and returns what the finding says.
func finds(t *testing.T, s *etcdlease.Store, part string) (text string) {
	t.Helper()
	again(t, func() (err error) {
		if text, err = storetest.Finding(t.Context(), s, part); text == "" {
			err = errors.Join(err, fmt.Errorf("Inspect does not find that %s", part))
		}
		return err
	})
	return text
}

// gone waits until Inspect does not have a finding any more.
func gone(t *testing.T, s *etcdlease.Store, part string) (err error) {
	wait.For(func() bool { err = storetest.Mended(t.Context(), s, part); return err == nil })
	return err
}

// back waits until a store works.
func back(t *testing.T, s *etcdlease.Store) (err error) {
	wait.For(func() bool { _, err = s.List(t.Context(), ""); return err == nil })
	return err
}

// store opens the store of a prefix in the cluster of three.
func (v *advised) store(t *testing.T, prefix string) *etcdlease.Store {
	t.Helper()
	return storetest.Open(t, etcdlease.Open, v.three.Address(prefix))
}

// start starts members of three again.
func (v *advised) start(t *testing.T, members ...int) error {
	for _, m := range members {
		if err := v.three.Restart(m); err != nil {
			return err
		}
	}
	return v.three.WaitHealthy(t.Context())
}

// ask makes a call of the client until it succeeds. A member that has just lost its leader may keep a call for long.
func (v *advised) ask(t *testing.T, call func(ctx context.Context) error) {
	t.Helper()
	again(t, func() error {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		return call(ctx)
	})
}

// member returns the member of three as the cluster knows it, or nil.
func (v *advised) member(t *testing.T, m int) *pb.Member {
	t.Helper()
	var list *clientv3.MemberListResponse
	v.ask(t, func(ctx context.Context) (err error) { list, err = v.raw.MemberList(ctx); return err })
	for _, is := range list.Members {
		if slices.Contains(is.PeerURLs, v.three.Peer(m)) {
			return is
		}
	}
	return nil
}

// remove removes a member of three from the cluster.
func (v *advised) remove(t *testing.T, m int) {
	t.Helper()
	v.ask(t, func(ctx context.Context) (err error) {
		if is := v.member(t, m); is != nil {
			_, err = v.raw.MemberRemove(ctx, is.ID)
		}
		return err
	})
	v.three.Kill(m)
}

// add adds a member of three to the cluster, and does not start the member.
func (v *advised) add(t *testing.T, m int) { v.adds(t, m, v.raw.MemberAdd) }

func (v *advised) adds(t *testing.T, m int, how func(context.Context, []string) (*clientv3.MemberAddResponse, error)) {
	t.Helper()
	v.ask(t, func(ctx context.Context) (err error) {
		if v.member(t, m) == nil {
			_, err = how(ctx, []string{v.three.Peer(m)})
		}
		return err
	})
}

// learn adds a member of three to the cluster as a learner, and starts it. The last of the members is the learner.
func (v *advised) learn(t *testing.T, members ...int) {
	t.Helper()
	m := members[len(members)-1]
	v.adds(t, m, v.raw.MemberAddAsLearner)
	testkit.OK(t, v.three.Join(m, members...))
}

// promote waits until a learner has caught up, and makes it a member that votes.
func (v *advised) promote(t *testing.T, learner uint64) error {
	t.Helper()
	v.ask(t, func(ctx context.Context) error {
		_, err := v.raw.MemberPromote(ctx, learner)
		if errors.Is(err, rpctypes.ErrMemberNotLearner) {
			err = nil // a call before has succeeded late
		}
		return err
	})
	return v.three.WaitHealthy(t.Context())
}

// join starts the last of some members of three, which has been added.
func (v *advised) join(t *testing.T, members ...int) error {
	if err := v.three.Join(members[len(members)-1], members...); err != nil {
		return err
	}
	return v.three.WaitHealthy(t.Context())
}

// alarm raises or clears an alarm of the last member of three.
func (v *advised) alarm(t *testing.T, action pb.AlarmRequest_AlarmAction, id uint64) {
	t.Helper()
	v.ask(t, func(ctx context.Context) error {
		alarms := pb.NewMaintenanceClient(v.raw.ActiveConnection())
		_, err := alarms.Alarm(ctx, &pb.AlarmRequest{Action: action, Alarm: pb.AlarmType_CORRUPT, MemberID: id})
		return err
	})
}

// hosts has hosts where no member answers.
func (v *advised) hosts() []advice.Fault {
	right := only(v.three, 0, "p")
	var web *httptest.Server
	var mute net.Listener
	return []advice.Fault{
		refusal("a user without a password", "etcd://u@h/p", "want etcd://host:2379,host2:2379/prefix?setting=value", right+"?timeout=20s"),
		refusal("a name that no host has", "etcd://no..host/p", "look at the names of the hosts", right),
		refusal("TLS", right+"?tls=true&timeout=1s", there+"if it speaks without TLS, leave out tls, ca, cert, key and server-name", right),
		{
			Name: "TLS at a server of something else",
			Meet: func(t *testing.T) string {
				web := httptest.NewServer(http.NotFoundHandler())
				defer web.Close()
				return advice.Text(t, open(t, "etcd://"+web.Listener.Addr().String()+"/p?tls=true"))
			},
			Ways: advice.Ways{"leave out tls, ca, cert, key and server-name": func(t *testing.T) error { return open(t, right) }},
		},
		{
			Name: "a member that is down",
			Meet: func(t *testing.T) string {
				v.three.Kill(0)
				return advice.Text(t, open(t, right+"?timeout=1s"))
			},
			Ways: advice.Ways{"see that etcd runs there, and its port for clients": func(t *testing.T) error {
				if err := v.start(t, 0); err != nil {
					return err
				}
				return open(t, right)
			}},
		},
		{
			Name: "a host that does not answer",
			Meet: func(t *testing.T) string {
				return advice.Text(t, open(t, "etcd://"+storetest.Silent(t)+"/p?timeout=300ms"))
			},
			Ways: advice.Ways{"see that the hosts are right": func(t *testing.T) error { return open(t, right) }},
		},
		{
			Name: "a server of something else",
			Meet: func(t *testing.T) string {
				web = httptest.NewUnstartedServer(http.NotFoundHandler())
				web.Config.Protocols = new(http.Protocols)
				web.Config.Protocols.SetUnencryptedHTTP2(true)
				web.Start()
				defer web.Close()
				return advice.Text(t, open(t, "etcd://"+web.Listener.Addr().String()+"/p"))
			},
			Ways: advice.Ways{"see that etcd 3.4 or later listens there": func(t *testing.T) error { return open(t, right) }},
		},
		{
			Name: "a server that hangs up",
			Meet: func(t *testing.T) string {
				mute = testkit.Must(net.Listen("tcp", "127.0.0.1:0"))
				defer mute.Close()
				go func() {
					for c, err := mute.Accept(); err == nil; c, err = mute.Accept() {
						c.Close()
					}
				}()
				return advice.Text(t, open(t, "etcd://"+mute.Addr().String()+"/p?timeout=1s"))
			},
			Ways: advice.Ways{there + "if it speaks TLS, set tls=true or ca": func(t *testing.T) error {
				return open(t, right)
			}},
		},
	}
}

// members has members that do not serve.
func (v *advised) members() []advice.Fault {
	c := v.three
	var s *etcdlease.Store
	return []advice.Fault{
		{
			Name: "no majority",
			Meet: func(t *testing.T) (text string) {
				s = storetest.Open(t, etcdlease.Open, c.Address("p")+"?timeout=2s")
				c.Kill(1)
				c.Kill(2)
				again(t, func() error {
					_, err := s.Get(t.Context(), "a")
					text = fmt.Sprint(err)
					if errors.Is(err, rpctypes.ErrNoLeader) {
						return nil
					}
					return fmt.Errorf("without a leader: %w", err)
				})
				return text
			},
			Ways: advice.Ways{"see that more than half of the members are up and reach each other (etcdctl endpoint status --endpoints=HOST,HOST)": func(t *testing.T) error {
				if status, err := v.raw.Status(t.Context(), c.Endpoint(0)); err != nil || status.Leader != 0 {
					t.Errorf("etcdctl shows %v, %v", status, err)
				}
				if err := v.start(t, 1, 2); err != nil {
					return err
				}
				return back(t, s)
			}},
		},
		{
			Name: "members that stand still",
			Meet: func(t *testing.T) string {
				s = storetest.Open(t, etcdlease.Open, c.Address("p")+"?timeout=2s")
				for m := range c.Len() {
					testkit.OK(t, c.Stop(m))
				}
				_, err := s.Get(t.Context(), "a")
				return advice.Text(t, err)
			},
			Ways: advice.Ways{"see that the hosts are right, and that more than half of the members are up and reach each other": func(t *testing.T) error {
				for m := range c.Len() {
					testkit.OK(t, c.Continue(m))
				}
				testkit.OK(t, c.WaitHealthy(t.Context()))
				return back(t, s)
			}},
		},
		{
			Name: "a member whose data differ",
			Meet: func(t *testing.T) string {
				s = v.store(t, space())
				v.alarm(t, pb.AlarmRequest_ACTIVATE, v.member(t, 2).ID)
				finds(t, s, "alarm CORRUPT")
				_, err := s.Put(t.Context(), "a", nil, driver.None)
				return advice.Text(t, err)
			},
			Ways: advice.Ways{"find the wrong member and replace it, as etcd's documentation says of the alarm CORRUPT": func(t *testing.T) error {
				wrong := v.member(t, 2).ID
				v.remove(t, 2)
				v.add(t, 2)
				testkit.OK(t, v.join(t, 0, 1, 2))
				v.alarm(t, pb.AlarmRequest_DEACTIVATE, wrong)
				storetest.Put(t, s, "a", "", driver.None)
				return gone(t, s, "alarm CORRUPT")
			}},
		},
		{
			Name: "a learner",
			Meet: func(t *testing.T) (text string) {
				v.remove(t, 2)
				v.learn(t, 0, 1, 2)
				again(t, func() error {
					err := open(t, only(c, 2, "p")+"?timeout=1s")
					text = fmt.Sprint(err)
					if strings.Contains(text, "learner") {
						return nil
					}
					return fmt.Errorf("at a learner: %w", err)
				})
				return text
			},
			Ways: advice.Ways{
				"name other members in the address": func(t *testing.T) error { return open(t, only(c, 1, "p")) },
				"or promote the learner when it has caught up (etcdctl member promote)": func(t *testing.T) error {
					testkit.OK(t, v.promote(t, v.member(t, 2).ID))
					return open(t, only(c, 2, "p"))
				},
			},
		},
	}
}

// inspected has findings about the members.
func (v *advised) inspected() []advice.Fault {
	c := v.three
	var s *etcdlease.Store
	// of returns a fault with a finding about the members at the address, and one way.
	of := func(part, addr string, meet func(t *testing.T), says string, mend func(t *testing.T) error) advice.Fault {
		return advice.Fault{
			Name: part,
			Meet: func(t *testing.T) string {
				s = storetest.Open(t, etcdlease.Open, addr)
				meet(t)
				return finds(t, s, part)
			},
			Ways: advice.Ways{says: func(t *testing.T) error {
				if err := mend(t); err != nil {
					return err
				}
				return gone(t, s, part)
			}},
		}
	}
	// named returns a fault of an address. The mend is another address.
	named := func(part string, wrong, right func(t *testing.T) string, says string) advice.Fault {
		return advice.Fault{
			Name: part,
			Meet: func(t *testing.T) string { return finds(t, storetest.Open(t, etcdlease.Open, wrong(t)), part) },
			Ways: advice.Ways{says: func(t *testing.T) error { return gone(t, storetest.Open(t, etcdlease.Open, right(t)), part) }},
		}
	}
	as := func(addr string) func(*testing.T) string { return func(*testing.T) string { return addr } }
	const limit = "?timeout=10s" // a call gives a part of it to a member that does not answer
	all, some := c.Address("p")+limit, "etcd://"+c.Endpoint(0)+","+c.Endpoint(1)+"/p"+limit
	version := func(by func(version string) string) func(t *testing.T) string {
		return func(t *testing.T) string {
			status, err := v.raw.Status(t.Context(), c.Endpoint(0))
			testkit.OK(t, err)
			return "etcd://" + storetest.Replacing(t, c.Endpoint(0), status.Version, by(status.Version)) + "," + c.Endpoint(1) + "/p"
		}
	}
	var extra string // a host where at first nothing listens
	remembered := func(t *testing.T) {
		v.remove(t, 2)
		v.add(t, 2)
	}
	const never = "was added, but has never been started"
	return []advice.Fault{
		of("m2 does not answer at", all, func(*testing.T) { c.Kill(2) }, "see whether it runs", func(t *testing.T) error { return v.start(t, 2) }),
		of("m2 does not answer at 127.0.0.1:9", some, func(t *testing.T) {
			c.Configure(2, "--advertise-client-urls", "http://127.0.0.1:9")
			testkit.OK(t, v.start(t, 2))
		}, "see whether it runs, and whether it gives out an endpoint that can be reached from here (--advertise-client-urls)", func(t *testing.T) error {
			c.Configure(2, "--advertise-client-urls", "http://"+c.Endpoint(2))
			return v.start(t, 2)
		}),
		of("m2 has no leader", all, func(*testing.T) { c.Isolate(2) }, "see that it reaches the other members", func(t *testing.T) error {
			c.Heal()
			return c.WaitHealthy(t.Context())
		}),
		of("is not a majority", all, func(*testing.T) {
			c.Kill(1)
			c.Kill(2)
		}, "start members until more than half of them are up", func(t *testing.T) error { return v.start(t, 1) }),
		of("m2 does not answer at", all, func(*testing.T) {}, "see whether it runs", func(t *testing.T) error { return v.start(t, 2) }),
		named("names one host of a cluster of 3", as(only(c, 0, "p")), as(all), "name all members in the address, if this is not one for all of them"),
		named("which can come to differ from the others", version(func(v string) string { return "3." + strings.Repeat("0", len(v)-5) + "5.1" }), as(all), "upgrade it: to 3.4.22, 3.5.6 or later"),
		named("are of different versions", version(func(v string) string { return "3." + strings.Repeat("0", len(v)-5) + "6.9" }), as(all), "bring all members to one version"),
		{
			Name: "a host that does not answer, in the address",
			Meet: func(t *testing.T) string {
				extra = storetest.Gone(t)
				s = storetest.Open(t, etcdlease.Open, strings.Replace(all, "://", "://"+extra+",", 1))
				return finds(t, s, "of the address does not answer")
			},
			Ways: advice.Ways{
				"take it out of the address": func(t *testing.T) error {
					return gone(t, storetest.Open(t, etcdlease.Open, all), "of the address does not answer")
				},
				"or see what is there": func(t *testing.T) error { // a member that listens elsewhere
					c.Configure(1, "--listen-client-urls", "http://"+c.Endpoint(1)+",http://"+extra)
					if err := v.start(t, 1); err != nil {
						return err
					}
					return gone(t, s, "of the address does not answer")
				},
			},
		},
		{
			Name: "members of two clusters",
			Meet: func(t *testing.T) (text string) {
				again(t, func() error { // the store may ask the other cluster first, and then another
					s, err := etcdlease.Open(t.Context(), "etcd://"+c.Endpoint(0)+","+v.one.Endpoint(0)+"/p?timeout=20s")
					if err != nil {
						return err
					}
					defer s.Close()
					text, err = storetest.Finding(t.Context(), s, "is a member of another cluster")
					if text == "" {
						err = errors.Join(err, errors.New("Inspect does not find the other cluster"))
					}
					return err
				})
				return text
			},
			Ways: advice.Ways{"name only members of one cluster": func(t *testing.T) error {
				return gone(t, storetest.Open(t, etcdlease.Open, all), "is a member of another cluster")
			}},
		},
		of("does not count for a majority", all, func(t *testing.T) {
			v.remove(t, 2)
			v.learn(t, 0, 1, 2)
		}, "promote it when it has caught up: etcdctl member promote", func(t *testing.T) error {
			return v.promote(t, id(t, finds(t, s, "does not count for a majority")))
		}),
		{
			Name: "a member that has never been started",
			Meet: func(t *testing.T) string {
				s = storetest.Open(t, etcdlease.Open, all)
				remembered(t)
				return finds(t, s, never)
			},
			Ways: advice.Ways{
				"start it": func(t *testing.T) error {
					if err := v.join(t, 0, 1, 2); err != nil {
						return err
					}
					return gone(t, s, never)
				},
				"or remove it: etcdctl member remove": func(t *testing.T) error {
					remembered(t)
					if _, err := v.raw.MemberRemove(t.Context(), id(t, finds(t, s, never))); err != nil {
						return err
					}
					return gone(t, s, never)
				},
			},
		},
		of("the cluster has two members", all, func(*testing.T) {}, "use three members", func(t *testing.T) error {
			v.add(t, 2)
			return v.join(t, 0, 1, 2)
		}),
		of("the cluster has a single member", all, func(t *testing.T) {
			v.remove(t, 2)
			v.remove(t, 1)
		}, "use three members on three machines", func(t *testing.T) error {
			v.learn(t, 0, 1) // so that the cluster has a leader all the time
			testkit.OK(t, v.promote(t, v.member(t, 1).ID))
			v.add(t, 2)
			return v.join(t, 0, 1, 2)
		}),
	}
}

// id returns the number of a member at the end of a finding.
func id(t *testing.T, text string) uint64 {
	t.Helper()
	id, err := strconv.ParseUint(text[strings.LastIndexByte(text, ' ')+1:], 16, 64)
	testkit.OK(t, err)
	return id
}

// rescued rescues the pool of package minter in a store, and makes an ID.
func rescued(t *testing.T, s driver.Store) error {
	if _, err := lease.Rescue(t.Context(), s, minter.Pool, lease.RescueConfig{Window: time.Second, Skew: 10 * time.Millisecond}); err != nil {
		return err
	}
	_, err := storetest.Program(t.Context(), s)
	return err
}

// entries has keys that something else has written, and a store that has forgotten changes.
func (v *advised) entries() []advice.Fault {
	c, one := v.three, v.one
	var s *etcdlease.Store
	var prefix, key string
	const tied, foreign = "entries are tied to leases of etcd's", "something else writes under the prefix"
	// pool opens a store with a pool that has been used.
	pool := func(t *testing.T, addr string) *etcdlease.Store {
		s := storetest.Open(t, etcdlease.Open, addr)
		testkit.OK(t, minter.Create(t.Context(), s))
		gen, held, err := minter.Start(t.Context(), s, lease.Config{Window: time.Second, First: 100 * time.Millisecond})
		testkit.OK(t, err)
		_, err = gen.Next()
		testkit.OK(t, errors.Join(err, held.Close()))
		return s
	}
	const oneCluster, stop = "see that all hosts of the address are members of one cluster",
		"stop all processes that use its pools, and rescue the pools before any of them is started again (lease.Rescue, with Layouts and Create if a pool is gone)"
	return []advice.Fault{
		{
			Name: "a damaged entry",
			Meet: func(t *testing.T) string {
				prefix = space()
				s = pool(t, c.Address(prefix))
				list, err := s.List(t.Context(), "")
				testkit.OK(t, err)
				key = list[len(list)-1].Key // a worker's
				for k, value := range map[string]string{key: strings.Repeat("x", driver.MaxValue+1), "Other": "x"} {
					_, err := v.raw.Put(t.Context(), prefix+"/"+k, value)
					testkit.OK(t, err)
				}
				_, err = s.Get(t.Context(), key)
				return advice.Text(t, err)
			},
			Ways: advice.Ways{
				"see what else writes under the prefix": func(t *testing.T) error {
					if text := finds(t, s, foreign); !strings.Contains(text, prefix+"/Other") {
						t.Error(text)
					}
					return nil
				},
				"rescue the pool (lease.Rescue), which makes the entry again; do not repair, move or delete entries": func(t *testing.T) error {
					if err := rescued(t, s); err != nil {
						return err
					}
					_, err := s.Get(t.Context(), key)
					return err
				},
			},
		},
		{
			Name: "keys of something else",
			Meet: func(t *testing.T) string {
				prefix = space()
				s = storetest.Open(t, etcdlease.Open, c.Address(prefix))
				_, err := v.raw.Put(t.Context(), prefix+"/Other", "")
				testkit.OK(t, err)
				return finds(t, s, foreign)
			},
			Ways: advice.Ways{"have it use a separate prefix, and remove those keys": func(t *testing.T) error {
				_, err := v.raw.Put(t.Context(), space()+"/Other", "")
				testkit.OK(t, err)
				_, err = v.raw.Delete(t.Context(), prefix+"/Other")
				testkit.OK(t, err)
				return gone(t, s, foreign)
			}},
		},
		{
			Name: "an entry with a lease of etcd's",
			Meet: func(t *testing.T) string {
				prefix = space()
				s = storetest.Open(t, etcdlease.Open, c.Address(prefix))
				held, err := v.raw.Grant(t.Context(), 3600)
				testkit.OK(t, err)
				_, err = v.raw.Put(t.Context(), prefix+"/a", "value", clientv3.WithLease(held.ID))
				testkit.OK(t, err)
				return finds(t, s, tied)
			},
			Ways: advice.Ways{
				"take the lease of etcd's off each of them (etcdctl put --ignore-value KEY, which keeps the value), and see what has tied them": func(t *testing.T) error {
					if _, err := v.raw.Put(t.Context(), prefix+"/a", "", clientv3.WithIgnoreValue()); err != nil {
						return err
					}
					e, err := s.Get(t.Context(), "a")
					if err != nil || string(e.Value) != "value" {
						return fmt.Errorf("the value is %q, %w", e.Value, err)
					}
					return gone(t, s, tied)
				},
			},
		},
		{
			Name: "answers of two clusters",
			Meet: func(t *testing.T) string {
				prefix = space()
				pool(t, only(c, 0, prefix))
				var err error
				wait.Until(t, "a store is connected to both clusters", func() bool {
					var s *etcdlease.Store
					s, err = etcdlease.Open(t.Context(), "etcd://"+c.Endpoint(0)+","+one.Endpoint(0)+"/"+prefix)
					for range 10 {
						if err == nil {
							_, err = s.List(t.Context(), "")
						}
					}
					if s != nil {
						s.Close()
					}
					return errors.Is(err, driver.ErrUnsafe)
				})
				return advice.Text(t, err)
			},
			Ways: advice.Ways{
				oneCluster: func(t *testing.T) error { return back(t, storetest.Open(t, etcdlease.Open, c.Address(prefix))) },
				stop:       func(t *testing.T) error { return rescued(t, storetest.Open(t, etcdlease.Open, c.Address(prefix))) },
			},
		},
		{
			Name: "a cluster that was set back",
			Meet: func(t *testing.T) (text string) {
				prefix = space()
				s = pool(t, one.Address(prefix))
				backup := t.TempDir()
				one.Kill(0)
				testkit.OK(t, errors.Join(os.CopyFS(backup, os.DirFS(one.Data(0))), one.Restart(0), one.WaitHealthy(t.Context())))
				again(t, func() error { _, err := s.Put(t.Context(), "lost", nil, driver.None); return err })
				one.Kill(0)
				testkit.OK(t, errors.Join(os.RemoveAll(one.Data(0)), os.CopyFS(one.Data(0), os.DirFS(backup)), one.Restart(0), one.WaitHealthy(t.Context())))
				wait.Until(t, "the loss is found out", func() bool {
					_, err := s.Get(t.Context(), "a")
					text = fmt.Sprint(err)
					return errors.Is(err, driver.ErrUnsafe)
				})
				return text
			},
			Ways: advice.Ways{
				oneCluster: func(t *testing.T) error {
					list, err := client(t, one.Endpoint(0)).MemberList(t.Context())
					if err == nil && len(list.Members) != 1 {
						err = fmt.Errorf("%v", list.Members)
					}
					return err
				},
				stop: func(t *testing.T) error {
					testkit.OK(t, s.Close())
					return rescued(t, storetest.Open(t, etcdlease.Open, one.Address(prefix)))
				},
			},
		},
	}
}

// databases has a database that is full.
func (v *advised) databases() []advice.Fault {
	c := v.one
	var s *etcdlease.Store
	fill := func(t *testing.T) error {
		_, err := client(t, c.Endpoint(0)).Put(t.Context(), "fill", strings.Repeat("x", 40<<10))
		return err
	}
	shrink := func(t *testing.T) {
		t.Helper()
		raw := client(t, c.Endpoint(0))
		got, err := raw.Get(t.Context(), "fill")
		testkit.OK(t, err)
		_, err = raw.Compact(t.Context(), got.Header.Revision)
		testkit.OK(t, err)
		_, err = raw.Defragment(t.Context(), c.Endpoint(0))
		testkit.OK(t, err)
	}
	disarm := func(t *testing.T) error {
		_, err := client(t, c.Endpoint(0)).AlarmDisarm(t.Context(), &clientv3.AlarmMember{})
		return err
	}
	configure := func(t *testing.T, flag string, value int) {
		t.Helper()
		c.Configure(0, flag, fmt.Sprint(value))
		testkit.OK(t, errors.Join(c.Restart(0), c.WaitHealthy(t.Context()), back(t, s)))
	}
	full := func(t *testing.T) (err error) {
		t.Helper()
		wait.Until(t, "the database is full", func() bool { return errors.Is(fill(t), rpctypes.ErrNoSpace) })
		_, err = s.Put(t.Context(), "a", nil, driver.None)
		return err
	}
	const alarm, nearly = "alarm NOSPACE", "that it may have"
	put := func(t *testing.T, key string) error {
		if err := disarm(t); err != nil {
			return err
		}
		if _, err := s.Put(t.Context(), key, nil, driver.None); err != nil {
			return err
		}
		return gone(t, s, alarm)
	}
	big := make([]byte, driver.MaxValue)
	return []advice.Fault{
		{
			Name: "a database that is full",
			Meet: func(t *testing.T) string {
				s = storetest.Open(t, etcdlease.Open, c.Address(space()))
				text := advice.Text(t, full(t))
				finds(t, s, alarm)
				return text
			},
			Ways: advice.Ways{
				"compact and defragment the database": func(t *testing.T) error {
					shrink(t)
					return put(t, "b")
				},
				"or raise --quota-backend-bytes; then clear the alarm with etcdctl alarm disarm": func(t *testing.T) error {
					if err := full(t); err == nil {
						t.Error("the database is not full")
					}
					configure(t, "--quota-backend-bytes", 2*quota)
					return put(t, "c")
				},
			},
		},
		{
			Name: "a database that is nearly full",
			Meet: func(t *testing.T) (text string) {
				s = storetest.Open(t, etcdlease.Open, c.Address("p"))
				for text == "" {
					testkit.OK(t, fill(t))
					var err error
					text, err = storetest.Finding(t.Context(), s, nearly)
					testkit.OK(t, err)
				}
				return text
			},
			Ways: advice.Ways{
				"compact and defragment it": func(t *testing.T) error {
					shrink(t)
					return gone(t, s, nearly)
				},
				"or raise --quota-backend-bytes": func(t *testing.T) error {
					for text := ""; text == ""; {
						testkit.OK(t, fill(t))
						var err error
						text, err = storetest.Finding(t.Context(), s, nearly)
						testkit.OK(t, err)
					}
					configure(t, "--quota-backend-bytes", 8*quota)
					return gone(t, s, nearly)
				},
			},
		},
		{
			Name: "requests that are too large",
			Meet: func(t *testing.T) string {
				s = storetest.Open(t, etcdlease.Open, c.Address(space()))
				configure(t, "--max-request-bytes", 1000)
				_, err := s.Put(t.Context(), "a", big, driver.None)
				return advice.Text(t, err)
			},
			Ways: advice.Ways{"raise --max-request-bytes of all members": func(t *testing.T) error {
				configure(t, "--max-request-bytes", 10000)
				_, err := s.Put(t.Context(), "a", big, driver.None)
				return err
			}},
		},
	}
}

// auth turns the authentication of three on or off. The prefix p is for the user firn.
func (v *advised) auth(t *testing.T, on bool) {
	t.Helper()
	c := clientv3.Config{Endpoints: v.three.Endpoints()}
	switch {
	case on && !v.login:
		login(t, c)
		v.login = true
	case on:
		raw := client(t, v.three.Endpoints()...)
		again(t, func() error { _, err := raw.AuthEnable(t.Context()); return err })
	default:
		again(t, func() error { _, err := v.root(t).AuthDisable(t.Context()); return err })
	}
}

// root returns a client of the user root.
func (v *advised) root(t *testing.T) *clientv3.Client {
	t.Helper()
	var raw *clientv3.Client
	again(t, func() (err error) {
		raw, err = clientv3.New(clientv3.Config{Endpoints: v.three.Endpoints(), Username: "root", Password: password})
		return err
	})
	t.Cleanup(func() { raw.Close() })
	return raw
}

// users has users that are not let in, or have no right.
func (v *advised) users(t *testing.T) []advice.Fault {
	c := v.three
	var s *etcdlease.Store
	user := func(addr string) string { return strings.Replace(addr, "://", "://firn:"+password+"@", 1) }
	const off, clear = "authentication is off", "the password goes over the network in clear"
	cert, key := newAuthority(t).client("tokens")
	return []advice.Fault{
		{
			Name: off,
			Meet: func(t *testing.T) string {
				s = storetest.Open(t, etcdlease.Open, user(c.Address("p")))
				return finds(t, s, off)
			},
			Ways: advice.Ways{
				"turn it on (etcdctl auth enable) when the user has its rights": func(t *testing.T) error {
					v.auth(t, true)
					return gone(t, s, off)
				},
				"or leave the user out of the address": func(t *testing.T) error {
					v.auth(t, false)
					finds(t, s, off)
					return gone(t, v.store(t, "p"), off)
				},
			},
		},
		{
			Name: "no user",
			Meet: func(t *testing.T) string {
				v.auth(t, true)
				return advice.Text(t, open(t, c.Address("p")))
			},
			Ways: advice.Ways{"give one in the address (user@host) and a password (password-file=PATH)": func(t *testing.T) error {
				return open(t, strings.Replace(c.Address("p"), "://", "://firn@", 1)+"?password-file="+storetest.File(t, password))
			}},
		},
		refusal("a wrong password", strings.Replace(c.Address("p"), "://", "://firn:hunter2@", 1), "look at the user and the password of the address", user(c.Address("p"))),
		{
			Name: "no right",
			Meet: func(t *testing.T) string { return advice.Text(t, open(t, user(c.Address("q%20'$r")))) },
			Ways: advice.Ways{"let the user's role read and write the prefix: etcdctl role grant-permission ROLE --prefix=true readwrite ": func(t *testing.T) error {
				_, command, _ := strings.Cut(advice.Text(t, open(t, user(c.Address("q%20'$r")))), "etcdctl ")
				out, err := exec.Command("sh", "-c", "for word in "+command+"; do echo \"$word\"; done").Output()
				testkit.OK(t, err)
				words := strings.Split(strings.TrimSpace(string(out)), "\n")
				if len(words) != 6 || words[3] != "--prefix=true" || words[4] != "readwrite" {
					t.Fatalf("%q", words)
				}
				_, err = v.root(t).RoleGrantPermission(t.Context(), "firn", words[5], clientv3.GetPrefixRangeEnd(words[5]), clientv3.PermissionType(clientv3.PermReadWrite))
				testkit.OK(t, err)
				return open(t, user(c.Address("q%20'$r")))
			}},
		},
		{
			Name: "the password in clear",
			Meet: func(t *testing.T) string {
				// A name for this machine that does not say so.
				return finds(t, storetest.Open(t, etcdlease.Open, user(strings.ReplaceAll(c.Address("p"), "127.0.0.1", "LOCALHOST"))), clear)
			},
			Ways: advice.Ways{"use TLS: tls=true or ca": func(t *testing.T) error {
				a := newAuthority(t)
				cert, key := a.server("localhost")
				tls := etcdtest.New(t, etcdtest.Config{Members: 1, Cert: cert, Key: key, Args: []string{careless}})
				return gone(t, storetest.Open(t, etcdlease.Open, strings.ReplaceAll(user(tls.Address("p")), "127.0.0.1", "LOCALHOST")+
					"?"+url.Values{"ca": {a.file}, "server-name": {"localhost"}}.Encode()), clear)
			}},
		},
		{
			Name: "an error that only the log explains",
			Meet: func(t *testing.T) (text string) {
				c.Configure(0, "--auth-token", "jwt,sign-method=ES256,pub-key="+cert)
				testkit.OK(t, c.Restart(0))
				again(t, func() error {
					err := open(t, user(only(c, 0, "p"))+"?timeout=2s")
					text = fmt.Sprint(err)
					if strings.Contains(text, "logs") {
						return nil
					}
					return fmt.Errorf("without a key for tokens: %w", err)
				})
				return text
			},
			Ways: advice.Ways{"see what the members say in their logs": func(t *testing.T) error {
				if log, err := os.ReadFile(c.Log(0)); err != nil || !strings.Contains(string(log), "token signing attempted with verify-only key") {
					t.Errorf("%v in\n%s", err, log)
				}
				c.Configure(0, "--auth-token", "jwt,sign-method=ES256,pub-key="+cert+",priv-key="+key)
				testkit.OK(t, v.start(t, 0))
				return open(t, user(only(c, 0, "p")))
			}},
		},
		{
			Name: "tokens of two kinds",
			Meet: func(t *testing.T) (text string) {
				wait.Until(t, "one member gives out the token, and the other gets the token", func() bool {
					err := open(t, user("etcd://"+c.Endpoint(0)+","+c.Endpoint(1)+"/p")+"?timeout=500ms")
					text = fmt.Sprint(err)
					return errors.Is(err, rpctypes.ErrInvalidAuthToken)
				})
				return text
			},
			Ways: advice.Ways{"see that all members have the same --auth-token, and whether somebody changes users all the time": func(t *testing.T) error {
				for m := 1; m < c.Len(); m++ {
					c.Configure(m, "--auth-token", "jwt,sign-method=ES256,pub-key="+cert+",priv-key="+key)
				}
				testkit.OK(t, v.start(t, 1, 2))
				return open(t, user("etcd://"+c.Endpoint(0)+","+c.Endpoint(1)+"/p"))
			}},
		},
	}
}

// secure has TLS.
func (v *advised) secure(t *testing.T) []advice.Fault {
	a, stranger := newAuthority(t), newAuthority(t)
	cert, key := a.server("127.0.0.1")
	mine, mineKey := a.client("firn")
	other, otherKey := stranger.client("firn")
	c := etcdtest.New(t, etcdtest.Config{Members: 1, CA: a.file, Cert: cert, Key: key, Args: []string{careless}})
	at := func(settings url.Values) string { return c.Address("p") + "?timeout=2s&" + settings.Encode() }
	right := url.Values{"ca": {a.file}, "cert": {mine}, "key": {mineKey}}
	return []advice.Fault{
		refusal("no TLS", c.Address("p"), there+"if it speaks TLS, set tls=true or ca", at(right)),
		refusal("an unknown authority", at(url.Values{"tls": {"true"}, "cert": {mine}, "key": {mineKey}}),
			"give the file of the authority that has signed the server's certificate: ca", at(right)),
		refusal("another name", at(url.Values{"ca": {a.file}, "cert": {mine}, "key": {mineKey}, "server-name": {"other.example"}}),
			"look at the server's certificate, and at ca and server-name", at(right)),
		refusal("no certificate", at(url.Values{"ca": {a.file}}), there+"if it wants a certificate of its clients, give cert and key", at(right)),
		refusal("a certificate of another authority", at(url.Values{"ca": {a.file}, "cert": {other}, "key": {otherKey}}),
			there+"look at cert and key, if it does not know the authority that signed them", at(right)),
	}
}
