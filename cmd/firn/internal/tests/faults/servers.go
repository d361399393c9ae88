//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/firn-id/firn/internal/testing/etcdtest"
	"github.com/firn-id/firn/internal/testing/pgtest"
	"github.com/firn-id/firn/internal/testing/servertest"
	"github.com/firn-id/firn/lease/address"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/etcdlease"
	"github.com/firn-id/firn/lease/kubelease"
	"github.com/firn-id/firn/lease/pglease"
)

// A server runs a store, and can be broken.
type server interface {
	// Faults returns the names of the faults.
	Faults() []string
	// Break does a fault for about the given time, then repairs the servers. The error is that the
	// fault or the repair failed.
	Break(ctx context.Context, fault string, d time.Duration) error
	endpoints() []string               // host:port
	address(endpoints []string) string // of the store through these endpoints
	close()
}

// stores start the servers of each kind of store.
var stores = map[string]func(context.Context) (server, error){
	"etcd":       startEtcd,
	"postgres":   startPostgres,
	"kubernetes": startKubernetes,
}

// quick are the stores whose servers start soon. Building the other servers takes minutes: see
// package servertest.
const quick = "etcd,postgres"

// open opens the store of an address.
func open(ctx context.Context, address string) (driver.Store, error) {
	switch scheme, _, _ := strings.Cut(address, "://"); scheme {
	case "etcd":
		return etcdlease.Open(ctx, address)
	case "kubernetes":
		return kubelease.Open(ctx, address)
	}
	return pglease.Open(ctx, address)
}

// etcd is a cluster of three members.
type etcd struct{ *etcdtest.Cluster }

func startEtcd(ctx context.Context) (server, error) {
	c, err := etcdtest.Start(ctx, etcdtest.Config{Args: []string{"--heartbeat-interval=50", "--election-timeout=500"}})
	if err != nil {
		return nil, err
	}
	return etcd{c}, nil
}

func (e etcd) endpoints() []string { return e.Endpoints() }

func (e etcd) address(endpoints []string) string {
	return "etcd://" + strings.Join(endpoints, ",") + "/firn?timeout=1s"
}

func (e etcd) close() { e.Close() }

// A cluster has several servers; one leads.
type cluster interface {
	Len() int
	Leader(context.Context) (int, error)
	Kill(i int)
	Restart(i int) error
	Stop(i int) error
	Continue(i int) error
	WaitHealthy(context.Context) error
}

// Faults of the leader, and of all servers.
const (
	killed   = "leader killed"
	cutOff   = "leader cut off"
	stopped  = "leader stopped"
	everyone = "all servers killed"
)

// breakCluster breaks a cluster for a while. cut does the fault that only some clusters know.
func breakCluster(ctx context.Context, c cluster, fault string, d time.Duration, cut func(leader int) (mend func() error)) error {
	within, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	leader, err := c.Leader(within)
	if err != nil {
		return err
	}
	mend := func() error { return nil }
	switch {
	case fault == killed:
		c.Kill(leader)
		mend = func() error { return c.Restart(leader) }
	case fault == stopped:
		err = c.Stop(leader)
		mend = func() error { return c.Continue(leader) }
	case fault == everyone:
		for i := range c.Len() {
			c.Kill(i)
		}
		mend = func() error {
			var errs []error
			for i := range c.Len() {
				errs = append(errs, c.Restart(i))
			}
			return errors.Join(errs...)
		}
	case fault == cutOff && cut != nil:
		mend = cut(leader)
	default:
		err = fmt.Errorf("no fault %q", fault)
	}
	if err != nil {
		return err
	}
	return mendAfter(ctx, d, mend, c.WaitHealthy)
}

// mendAfter waits, repairs the cluster, and waits until the cluster is healthy.
func mendAfter(ctx context.Context, d time.Duration, mend func() error, wait func(context.Context) error) error {
	sleep(ctx, d)
	if err := mend(); err != nil {
		return err
	}
	within, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := wait(within); err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}

func (e etcd) Faults() []string { return []string{killed, cutOff, stopped, everyone} }

func (e etcd) Break(ctx context.Context, fault string, d time.Duration) error {
	return breakCluster(ctx, e, fault, d, func(leader int) func() error {
		e.Isolate(leader)
		return func() error { e.Heal(); return nil }
	})
}

// postgres is one PostgreSQL server.
type postgres struct{ *pgtest.Server }

func startPostgres(ctx context.Context) (server, error) {
	s, err := pgtest.Start(ctx, pgtest.Config{})
	if err != nil {
		return nil, err
	}
	return postgres{s}, nil
}

func (p postgres) endpoints() []string { return []string{fmt.Sprintf("127.0.0.1:%d", p.Port())} }

func (p postgres) address(endpoints []string) string {
	return "postgres://postgres@" + strings.Join(endpoints, ",") + "/postgres?sslmode=disable&timeout=1s"
}

func (p postgres) close() { p.Close() }

const (
	crashed = "restart -m immediate"
	killed9 = "all its processes killed"
	frozen  = "stopped"
)

func (p postgres) Faults() []string { return []string{crashed, killed9, frozen} }

func (p postgres) Break(ctx context.Context, fault string, d time.Duration) error {
	within, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	switch fault {
	case crashed:
		p.Crash()
		sleep(ctx, d/4)
		return p.Start(within)
	case killed9:
		p.Kill()
		sleep(ctx, d/4)
		return p.Start(within)
	case frozen:
		p.Stop()
		sleep(ctx, d)
		p.Continue()
		return nil
	}
	return fmt.Errorf("no fault %q", fault)
}

// kubernetes is an API server and its etcd.
type kubernetes struct {
	*servertest.Kubernetes
	token string
}

// namespace is the namespace of the leases.
const namespace = "firn"

func startKubernetes(ctx context.Context) (server, error) {
	k, err := servertest.StartKubernetes(ctx)
	if err != nil {
		return nil, err
	}
	token, err := k.Account(ctx, namespace)
	if err != nil {
		k.Close()
		return nil, err
	}
	return kubernetes{k, token}, nil
}

func (k kubernetes) endpoints() []string { return []string{k.Endpoint()} }

func (k kubernetes) address(endpoints []string) string {
	return address.WithSetting(k.Address(namespace, "firn", k.token), "server", "https://"+endpoints[0]) + "&timeout=1s"
}

func (k kubernetes) close() { k.Close() }

const (
	apiKilled   = "API server killed"
	apiStopped  = "API server stopped"
	etcdKilled  = "etcd killed"
	etcdStopped = "etcd stopped"
)

func (k kubernetes) Faults() []string {
	return []string{apiKilled, apiStopped, etcdKilled, etcdStopped}
}

func (k kubernetes) Break(ctx context.Context, fault string, d time.Duration) error {
	var err error
	var mend func() error
	switch fault {
	case apiKilled:
		k.Kill()
		mend = k.Restart
	case apiStopped:
		err = k.Stop()
		mend = k.Continue
	case etcdKilled:
		k.Etcd.Kill(0)
		mend = func() error { return k.Etcd.Restart(0) }
	case etcdStopped:
		err = k.Etcd.Stop(0)
		mend = func() error { return k.Etcd.Continue(0) }
	default:
		err = fmt.Errorf("no fault %q", fault)
	}
	if err != nil {
		return err
	}
	return mendAfter(ctx, d, mend, k.WaitHealthy)
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
