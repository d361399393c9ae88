package sqlgen_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/firn-id/firn/cmd/firn/internal/sqlgen"
	"github.com/firn-id/firn/internal/testing/pgtest"
)

// BenchmarkGenerator compares the generator with nextval on a server with the settings of
// PostgreSQL, in one run. A statement is a round trip and a transaction. The figure IDs/s counts the
// values of all connections.
func BenchmarkGenerator(b *testing.B) {
	s := server(b, pgtest.Config{Settings: map[string]string{"shared_buffers": "128MB"}})
	addr := database(b, s, sqlgen.Up)
	conn := open(b, addr)
	grant(b, conn, 7, 1, forever)
	do(b, conn, "CREATE SEQUENCE plain; CREATE UNLOGGED SEQUENCE unlogged")
	for _, q := range []struct {
		name, query string
		each        int
	}{
		{"nextval", "SELECT nextval('plain')", 1},
		{"nextval unlogged", "SELECT nextval('unlogged')", 1},
		{"next_nanoflake", "SELECT firn.next_nanoflake()", 1},
		{"1000 nextval", "SELECT nextval('plain') FROM generate_series(1, 1000)", 1000},
		{"1000 next_nanoflake", "SELECT firn.next_nanoflake() FROM generate_series(1, 1000)", 1000},
		{"next_nanoflakes 10000", "SELECT * FROM firn.next_nanoflakes(10000)", 10000},
	} {
		for _, connections := range []int{1, 8} {
			b.Run(fmt.Sprintf("%s/connections=%d", q.name, connections), func(b *testing.B) {
				conns := make([]*pgx.Conn, connections)
				for i := range conns {
					conns[i] = open(b, addr)
					do(b, conns[i], q.query)
				}
				b.ResetTimer()
				var all sync.WaitGroup
				for i, conn := range conns {
					all.Go(func() {
						for range (b.N + i) / connections {
							rows, err := conn.Query(context.Background(), q.query)
							if err != nil {
								b.Error(err)
								return
							}
							n := 0
							for rows.Next() {
								n++
							}
							if rows.Close(); rows.Err() != nil || n != q.each {
								b.Error(n, rows.Err())
								return
							}
						}
					})
				}
				all.Wait()
				b.ReportMetric(float64(b.N*q.each)/b.Elapsed().Seconds(), "IDs/s")
			})
		}
	}
}
