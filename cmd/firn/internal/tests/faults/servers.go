//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/firn-id/firn/internal/pause"
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
	faults() []fault
	endpoints() []string               // host:port
	address(endpoints []string) string // of the store through these endpoints
	close()
}

// A fault is what can happen to servers, and the repair.
type fault struct {
	name        string
	begin, mend func(context.Context) error
	part        time.Duration // of the time of a fault that it lasts: a restart takes time itself
}

// happen does the fault for about the given time, then repairs the servers. The error is that the fault or
// the repair failed.
func (f fault) happen(ctx context.Context, d time.Duration) error {
	within := func(do func(context.Context) error) error {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		return do(ctx)
	}
	if err := within(f.begin); err != nil {
		return err
	}
	pause.For(ctx, d/f.part)
	if err := within(f.mend); err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}

// do returns a step of a fault that cannot fail.
func do(f func()) func(context.Context) error {
	return func(context.Context) error { f(); return nil }
}

// healthy returns a repair after which the servers are healthy.
func healthy(repair func() error, wait func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := repair(); err != nil {
			return err
		}
		return wait(ctx)
	}
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

func (e etcd) faults() []fault {
	leader := 0
	hit := func(do func(member int) error) func(context.Context) error {
		return func(ctx context.Context) (err error) {
			if leader, err = e.Leader(ctx); err == nil {
				err = do(leader)
			}
			return err
		}
	}
	mend := func(do func(member int) error) func(context.Context) error {
		return healthy(func() error { return do(leader) }, e.WaitHealthy)
	}
	all := func(do func(member int) error) func(int) error {
		return func(int) error {
			var errs []error
			for i := range e.Len() {
				errs = append(errs, do(i))
			}
			return errors.Join(errs...)
		}
	}
	kill := func(i int) error { e.Kill(i); return nil }
	isolate, heal := func(i int) error { e.Isolate(i); return nil }, func(int) error { e.Heal(); return nil }
	return []fault{
		{"leader killed", hit(kill), mend(e.Restart), 1},
		{"leader cut off", hit(isolate), mend(heal), 1},
		{"leader stopped", hit(e.Stop), mend(e.Continue), 1},
		{"all servers killed", hit(all(kill)), mend(all(e.Restart)), 1},
	}
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

func (p postgres) faults() []fault {
	return []fault{
		{"restart -m immediate", do(p.Crash), p.Start, 4},
		{"all its processes killed", do(p.Kill), p.Start, 4},
		{"stopped", do(p.Stop), do(p.Continue), 1},
	}
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

func (k kubernetes) faults() []fault {
	stop := func(f func() error) func(context.Context) error {
		return func(context.Context) error { return f() }
	}
	first := func(f func(int) error) func() error { return func() error { return f(0) } }
	return []fault{
		{"API server killed", do(k.Kill), healthy(k.Restart, k.WaitHealthy), 1},
		{"API server stopped", stop(k.Stop), healthy(k.Continue, k.WaitHealthy), 1},
		{"etcd killed", do(func() { k.Etcd.Kill(0) }), healthy(first(k.Etcd.Restart), k.WaitHealthy), 1},
		{"etcd stopped", stop(first(k.Etcd.Stop)), healthy(first(k.Etcd.Continue), k.WaitHealthy), 1},
	}
}
