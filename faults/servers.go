//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/firn-id/firn/cmd/firn/torture"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/etcdlease"
	"github.com/firn-id/firn/lease/etcdlease/etcdtest"
	"github.com/firn-id/firn/lease/pglease"
	"github.com/firn-id/firn/lease/pglease/pgtest"
)

// A server is what a store runs on, and what can break it.
type server interface {
	torture.Server
	endpoints() []string               // host:port
	address(endpoints []string) string // of the store by these, or others in their place
	close()
}

// stores start the servers of each.
var stores = map[string]func(context.Context) (server, error){
	"etcd":     startEtcd,
	"postgres": startPostgres,
}

// open opens the stores of processes.
func open(ctx context.Context, address string) (driver.Store, error) {
	if strings.HasPrefix(address, "etcd://") {
		return etcdlease.Open(ctx, address)
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

// What can happen to a leader, and to all.
const (
	killed  = "leader killed"
	cutOff  = "leader cut off"
	stopped = "leader stopped"
	all     = "all members killed"
)

func (e etcd) Faults() []string { return []string{killed, cutOff, stopped, all} }

func (e etcd) Break(ctx context.Context, fault string, d time.Duration) error {
	within, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	leader, err := e.Leader(within)
	if err != nil {
		return err
	}
	var mend func() error
	switch fault {
	case killed:
		e.Kill(leader)
		mend = func() error { return e.Restart(leader) }
	case cutOff:
		e.Isolate(leader)
		mend = func() error { e.Heal(); return nil }
	case stopped:
		if err := e.Stop(leader); err != nil {
			return err
		}
		mend = func() error { return e.Continue(leader) }
	case all:
		for i := range e.Len() {
			e.Kill(i)
		}
		mend = func() error {
			var errs []error
			for i := range e.Len() {
				errs = append(errs, e.Restart(i))
			}
			return errors.Join(errs...)
		}
	default:
		return fmt.Errorf("no fault %q", fault)
	}
	sleep(ctx, d)
	if err := mend(); err != nil {
		return err
	}
	if err := e.WaitHealthy(within); err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}

// postgres is one server.
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

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
