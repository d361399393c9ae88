// Package servers runs database servers of the program's own, and has the tables whose primary keys
// are measured. The servers have a small cache, new folders below the system's folder for temporary
// files, and free ports of loopback. They end with the program.
package servers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/firn-id/firn/dev/bench/storage/keys"
)

// ErrMissing reports that the programs of a server are not installed. The text of the error names
// the program.
var ErrMissing = errors.New("not installed")

// Names are the servers, in the order of tables and charts.
var Names = []string{PostgreSQL, keys.MariaDB}

// PostgreSQL is the name of a server.
const PostgreSQL = "postgresql"

// Options are the settings of a server that a run may change.
type Options struct {
	Cache  int  // of pages, in KiB
	NoSync bool // never wait for the disk, for tests: they count pages, and measure no time
}

// Start makes and starts the server with the name.
func Start(ctx context.Context, name string, o Options) (Server, error) {
	start, ok := starts[name]
	if !ok {
		return nil, fmt.Errorf("server %q is unknown", name)
	}
	s, err := start(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return s, nil
}

// A Server is a running database server. Methods must not be called at the same time.
type Server interface {
	Version(ctx context.Context) (string, error)

	// Settings returns the settings that decide the measurements, as the server reports them.
	Settings(ctx context.Context) ([]Setting, error)

	// Create makes an empty table whose primary key has the format.
	Create(ctx context.Context, f *keys.Format) (Table, error)

	// Close ends the server, and removes its files.
	Close() error
}

// A Setting is a line of a server's configuration.
type Setting struct{ Name, Value string }

// A Table has a primary key, a number and a text of [BodySize] bytes. The number of a row is the
// row's place in the set of keys. Methods must not be called at the same time.
type Table interface {
	// Load adds the rows from..to by the server's way for many rows, in one transaction. The set is
	// empty if the server assigns the keys.
	Load(ctx context.Context, set keys.Set, from, to int) error

	// Connect returns a connection for single rows.
	Connect(ctx context.Context) (Conn, error)

	// Settle writes all changed pages to the files, as a checkpoint does.
	Settle(ctx context.Context) error

	// Counters returns the server's counters since the start of the server.
	Counters(ctx context.Context) (Counters, error)

	// Sizes returns the sizes of the table.
	Sizes(ctx context.Context) (Counters, error)

	// Read calls row for all rows, in the order of the server. The key has the bytes of a
	// [keys.Set], and is valid until row returns.
	Read(ctx context.Context, row func(number int64, key []byte) error) error

	// AddIndex adds an index of the numbers, and returns its size in bytes.
	AddIndex(ctx context.Context) (float64, error)

	// Drop removes the table.
	Drop(ctx context.Context) error
}

// A Conn is a connection with prepared statements. A Conn is for one goroutine.
type Conn interface {
	Begin(ctx context.Context) error
	Commit(ctx context.Context) error

	// Insert adds one row. The key is nil if the server assigns the keys.
	Insert(ctx context.Context, key []byte, number int64) error

	// Find returns the number of the row with the key.
	Find(ctx context.Context, key []byte) (number int64, err error)

	// Report makes the server count the work of the connection now.
	Report(ctx context.Context) error

	Close() error
}

// A Metric names what is measured.
type Metric string

// The counters of a server. Index is the index of the primary key. In InnoDB that index holds the
// rows, so the table has no other pages.
const (
	LogBytes      Metric = "log_bytes"      // written to the log of changes: WAL, redo log
	LogImages     Metric = "log_images"     // whole pages in the log; PostgreSQL only
	IndexReads    Metric = "index_reads"    // pages that the cache did not have
	IndexRequests Metric = "index_requests" // pages asked of the cache
	HeapReads     Metric = "heap_reads"     // PostgreSQL only
	HeapRequests  Metric = "heap_requests"  // PostgreSQL only
	PagesWritten  Metric = "pages_written"  // to the files of tables and indexes
	Splits        Metric = "splits"         // of pages of indexes; MariaDB only
	Processor     Metric = "processor"      // seconds of processor time of the server
)

// The sizes of a table.
const (
	IndexBytes  Metric = "index_bytes"
	TableBytes  Metric = "table_bytes"  // without the index; in InnoDB, with
	LeafPages   Metric = "leaf_pages"   // of the index
	LeafDensity Metric = "leaf_density" // how full the leaf pages are, in percent; PostgreSQL only
	SecondBytes Metric = "second_bytes" // of an index of another column
)

// Counters are values of metrics. A server has no value for a metric that the server cannot tell.
type Counters map[Metric]float64

// Since returns how far the counters have gone since earlier counters.
func (c Counters) Since(earlier Counters) Counters {
	d := make(Counters)
	for m, v := range c {
		d[m] = v - earlier[m]
	}
	return d
}

// Type returns the type of the primary key in a server's dialect.
func Type(server string, f *keys.Format) string {
	if server == keys.MariaDB {
		return map[keys.Column]string{
			keys.Assigned: "bigint AUTO_INCREMENT",
			keys.Integer:  "bigint",
			keys.Bytes:    fmt.Sprintf("binary(%d)", f.Width),
			keys.UUID:     "uuid",
			keys.Chars:    fmt.Sprintf("char(%d) CHARACTER SET ascii COLLATE ascii_bin", f.Width),
			keys.Words:    fmt.Sprintf("char(%d) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci", f.Width),
		}[f.Column]
	}
	return map[keys.Column]string{
		keys.Assigned: "bigserial",
		keys.Integer:  "bigint",
		keys.Bytes:    "bytea",
		keys.UUID:     "uuid",
		keys.Chars:    fmt.Sprintf(`char(%d) COLLATE "C"`, f.Width),
		keys.Words:    fmt.Sprintf(`char(%d) COLLATE "en-x-icu"`, f.Width),
	}[f.Column]
}

// BodySize is the length of the text of a row, in bytes.
const BodySize = 64

// body is the text of all rows. Servers do not compress the text: it is short.
var body = strings.Repeat("firn ", BodySize)[:BodySize]

// ordered returns the settings with the names, in the order of the names.
func ordered(values map[string]string, names []string) []Setting {
	var all []Setting
	for _, name := range slices.Sorted(slices.Values(names)) {
		all = append(all, Setting{name, values[name]})
	}
	return all
}
