package tests

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	twitter "github.com/bwmarrin/snowflake"
	discord "github.com/disgoorg/snowflake/v2"
	"github.com/gofrs/uuid/v5"
	google "github.com/google/uuid"
	"github.com/lucsky/cuid"
	nanoid "github.com/matoous/go-nanoid/v2"
	"github.com/nrednav/cuid2"
	"github.com/oklog/ulid/v2"
	"github.com/rs/xid"
	"github.com/segmentio/ksuid"
	"github.com/sony/sonyflake"
	"go.jetify.com/typeid"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/firn-id/firn/cmd/firn/internal/foreign"
)

// A maker makes IDs of a kind, by the kind's own library where one exists.
type maker struct {
	kind  string
	make  func(at time.Time) (string, error)
	now   bool          // the library makes IDs of the present time alone
	exact time.Duration // how exactly an ID has its time; 0 for a kind without a time
}

// plain is a maker's function without an error.
func plain[T any](f func() T) func(time.Time) (string, error) {
	return func(time.Time) (string, error) { return fmt.Sprint(f()), nil }
}

// failing is a maker's function of the present time.
func failing[T any](f func() (T, error)) func(time.Time) (string, error) {
	return func(time.Time) (string, error) {
		id, err := f()
		return fmt.Sprint(id), err
	}
}

// uuidAt is a maker's function of a given time.
func uuidAt(f func(time.Time) (uuid.UUID, error)) func(time.Time) (string, error) {
	return func(at time.Time) (string, error) {
		id, err := f(at)
		return id.String(), err
	}
}

// makers returns a maker for each kind.
func makers(t *testing.T) []maker {
	node, err := twitter.NewNode(7)
	check(t, err)
	flakes, err := sonyflake.New(sonyflake.Settings{MachineID: func() (uint16, error) { return 7, nil }})
	check(t, err)
	return []maker{
		{"uuidv1", uuidAt(uuid.NewV1AtTime), false, time.Microsecond},
		{"uuidv2", failing(google.NewDCEPerson), true, 8 * time.Minute}, // a local ID stands in the place of 7 minutes
		{"uuidv3", plain(func() uuid.UUID { return uuid.NewV3(uuid.NamespaceDNS, string(randomBytes())) }), false, 0},
		{"uuidv4", failing(uuid.NewV4), false, 0},
		{"uuidv4", failing(google.NewRandom), false, 0},
		{"uuidv5", plain(func() uuid.UUID { return uuid.NewV5(uuid.NamespaceDNS, string(randomBytes())) }), false, 0},
		{"uuidv6", uuidAt(uuid.NewV6AtTime), false, time.Microsecond},
		{"uuidv7", uuidAt(uuid.NewV7AtTime), false, time.Millisecond},
		{"uuidv7", failing(google.NewV7), true, time.Millisecond},
		{"uuidv8", failing(func() (uuid.UUID, error) {
			b := randomBytes()
			return uuid.NewV8(b[:6], b[6:8], b[8:])
		}), false, 0},
		{"ulid", func(at time.Time) (string, error) {
			id, err := ulid.New(ulid.Timestamp(at), rand.Reader)
			return id.String(), err
		}, false, time.Millisecond},
		{"ksuid", func(at time.Time) (string, error) {
			id, err := ksuid.NewRandomWithTime(at)
			return id.String(), err
		}, false, time.Second},
		{"xid", func(at time.Time) (string, error) { return xid.NewWithTime(at).String(), nil }, false, time.Second},
		{"objectid", func(at time.Time) (string, error) { return bson.NewObjectIDFromTimestamp(at).Hex(), nil }, false, time.Second},
		{"sonyflake", failing(flakes.NextID), true, 10 * time.Millisecond},
		{"twitter", plain(node.Generate), true, time.Millisecond},
		{"discord", func(at time.Time) (string, error) { return discord.New(at).String(), nil }, false, time.Millisecond},
		{"typeid", failing(func() (typeid.AnyID, error) { return typeid.WithPrefix("order_item") }), true, time.Millisecond},
		{"typeid", failing(func() (typeid.AnyID, error) { return typeid.WithPrefix("") }), true, time.Millisecond},
		{"cuid", plain(cuid.New), true, time.Millisecond},
		{"cuid2", plain(cuid2.Generate), false, 0},
		{"nanoid", plain(func() string { return nanoid.Must() }), false, 0},
		// No library makes these two. The functions are those of the makers: PL/pgSQL of Instagram, and
		// JavaScript of Firebase.
		{"instagram", func(at time.Time) (string, error) {
			const epoch = 1314220021721
			return fmt.Sprint((at.UnixMilli()-epoch)<<23 | 5<<10 | at.UnixNano()%1024), nil
		}, false, time.Millisecond},
		{"firebase", func(at time.Time) (string, error) {
			const characters = "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"
			id := make([]byte, 20)
			copy(id[8:], randomBytes())
			for i := 8; i < 20; i++ {
				id[i] = characters[id[i]%64]
			}
			for now, i := at.UnixMilli(), 7; i >= 0; now, i = now/64, i-1 {
				id[i] = characters[now%64]
			}
			return string(id), nil
		}, false, time.Millisecond},
	}
}

func randomBytes() []byte {
	b := make([]byte, 16)
	rand.Read(b)
	return b
}

// An answer is what firn inspect --json says of an ID.
type answer struct {
	candidate
	Input, Error string
	Candidates   []candidate
}

type candidate struct {
	Format string
	ID     string
	Time   *time.Time
	Unix   *int64 `json:"unix_ms"`
	Prefix string
	Fields map[string]any
}

// TestForeign: IDs of each foreign kind, made by the kind's own library at several times, are recognised, with
// their time. The kind is the first candidate, except that of decimals, of which it is one.
func TestForeign(t *testing.T) {
	const n = 250
	decimals := map[string]bool{"sonyflake": true, "twitter": true, "discord": true, "instagram": true}
	left := make(map[string]bool)
	for _, k := range foreign.All() {
		left[k.Name] = true
	}
	for _, m := range makers(t) {
		delete(left, m.kind)
		var input strings.Builder
		var made []string
		var times []time.Time
		for i := range n {
			at := time.Now().AddDate(-[4]int{0, 1, 5, 10}[i%4], 0, 0)
			if m.now {
				at = time.Now()
			}
			id, err := m.make(at)
			check(t, err)
			made, times = append(made, id), append(times, at)
			fmt.Fprintln(&input, id)
		}
		stdout, stderr, code := firnRun(t, input.String(), "inspect", "--json")
		lines := strings.Split(strings.TrimSuffix(stdout, "\n"), "\n")
		if code != 0 || stderr != "" || len(lines) != n {
			t.Fatalf("%s: exit code %d, %d lines: %s", m.kind, code, len(lines), stderr)
		}
		alone := 0
		for i, line := range lines {
			var a answer
			check(t, json.Unmarshal([]byte(line), &a))
			if len(a.Candidates) == 0 {
				a.Candidates = []candidate{a.candidate}
				alone++
			} else if a.Input != made[i] {
				t.Errorf("%s: the answer to %s is of %s", m.kind, made[i], a.Input)
			}
			found := -1
			for place, c := range a.Candidates {
				if c.Format == m.kind {
					found = place
				}
			}
			if found < 0 || found > 0 && !decimals[m.kind] {
				t.Fatalf("%s: %s is %s", m.kind, made[i], line)
			}
			c := a.Candidates[found]
			if c.ID != made[i] || (c.Time != nil) != (m.exact > 0) || (c.Unix != nil) != (m.exact > 0) {
				t.Fatalf("%s: %s is %+v", m.kind, made[i], c)
			}
			if c.Time == nil {
				continue
			}
			// An ID of the present time is made after the time was read.
			const slow = time.Minute
			late := c.Time.Sub(times[i])
			if late < -m.exact || !m.now && late > 0 || late > slow || *c.Unix != c.Time.UnixMilli() {
				t.Fatalf("%s: %s of %v has the time %v", m.kind, made[i], times[i], c.Time)
			}
		}
		t.Logf("%s: %d of %d IDs fit no other kind", m.kind, alone, n)
	}
	if len(left) > 0 {
		t.Errorf("no test of %v", left)
	}
}
