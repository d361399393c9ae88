// Package confirm_test measures a strictly ordered service: callers make IDs, confirm the IDs, and answer.
package confirm_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/firn-id/firn/internal/testing/etcdtest"
	"github.com/firn-id/firn/internal/testing/services"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/etcdlease"
	"github.com/firn-id/firn/lease/filelease"
	"github.com/firn-id/firn/lease/pglease"
	"github.com/firn-id/firn/nanoflake"
)

// looking counts the looks at a store.
type looking struct {
	driver.Store
	looks atomic.Int64
}

func (l *looking) Confirm(ctx context.Context, key string) (driver.Entry, error) {
	l.looks.Add(1)
	return l.Store.(driver.Confirmer).Confirm(ctx, key)
}

// stores open a new store each.
var stores = []struct {
	name string
	open func(b *testing.B) driver.Store
}{
	{"files", func(b *testing.B) driver.Store { return testkit.Must(filelease.Open(b.TempDir())) }},
	{"etcd", func(b *testing.B) driver.Store {
		return testkit.Must(etcdlease.Open(b.Context(), etcdtest.New(b, etcdtest.Config{}).Address("confirm")))
	}},
	{"postgres", func(b *testing.B) driver.Store {
		conn, err := pgx.Connect(b.Context(), services.PostgreSQL.Address())
		if err != nil {
			services.PostgreSQL.Missing(b, err)
		}
		drop := func() {
			_, err := conn.Exec(context.Background(), "DROP SCHEMA IF EXISTS confirm CASCADE")
			testkit.OK(b, err)
		}
		drop()
		b.Cleanup(func() { drop(); conn.Close(context.Background()) })
		st := testkit.Must(pglease.Open(b.Context(), services.PostgreSQL.Address()+"?table=confirm.leases"))
		testkit.OK(b, st.Prepare(b.Context()))
		return st
	}},
}

// BenchmarkConfirm has each caller make an ID, confirm the ID, and answer. The time is of one ID. The
// time of the processor does not depend on other programs of the machine, and leaves out servers.
//
//	go test -C lease/internal/tests ./confirm -run '^$' -bench Confirm -benchtime 3s
func BenchmarkConfirm(b *testing.B) {
	for _, s := range stores {
		b.Run(s.name, func(b *testing.B) {
			store := &looking{Store: s.open(b)}
			defer store.Close()
			for _, callers := range []int{1, 10, 100, 1000} {
				b.Run(fmt.Sprint(callers), func(b *testing.B) { serve(b, store, callers) })
			}
		})
	}
}

func serve(b *testing.B, store *looking, callers int) {
	gen := testkit.Must(nanoflake.NewGenerator(nanoflake.Config{Leased: true}))
	held, err := lease.Start(b.Context(), store, gen, lease.Config{Pool: "confirm", Create: true})
	testkit.OK(b, err)
	defer held.Close()
	var left, again atomic.Int64
	left.Store(int64(b.N))
	store.looks.Store(0)
	var all sync.WaitGroup
	b.ResetTimer()
	before := processor(b)
	for range callers {
		all.Go(func() {
			ctx, cancel := context.WithCancel(b.Context()) // as a request has one
			defer cancel()
			for left.Add(-1) >= 0 {
				for confirmed := false; !confirmed; {
					id, err := gen.Next(ctx)
					if err != nil {
						b.Error(err)
						return
					}
					since, err := held.Confirm(ctx)
					if err != nil {
						b.Error(err)
						return
					}
					if confirmed = !gen.Time(id).Before(since); !confirmed {
						again.Add(1)
					}
				}
			}
		})
	}
	all.Wait()
	b.StopTimer()
	b.ReportMetric(float64((processor(b)-before).Nanoseconds())/float64(b.N), "processor-ns/ID")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "IDs/s")
	b.ReportMetric(float64(store.looks.Load())/b.Elapsed().Seconds(), "looks/s")
	if n := again.Load(); n > 0 {
		b.ReportMetric(float64(n), "IDs-thrown-away")
	}
}

// processor returns the time of the processor that this process has taken.
func processor(b *testing.B) time.Duration {
	var u syscall.Rusage
	testkit.OK(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
