package natslease_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"

	"github.com/firn-id/firn/internal/testing/advice"
	"github.com/firn-id/firn/internal/testing/minter"
	"github.com/firn-id/firn/internal/testing/sources"
	"github.com/firn-id/firn/internal/testing/storetest"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/internal/testing/wait"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/grant"
	"github.com/firn-id/firn/lease/natslease"
)

// unfollowed is advice that no fault of the tables meets, each with the reason.
var unfollowed = map[string]string{
	"see the server's log": "a part of the advice on a full bucket, for a disk that is full",
}

// TestAdvice follows the advice of the errors and the findings.
func TestAdvice(t *testing.T) {
	b := newBed(t)
	whole, broken := b.clusters(t)
	advice.Check(t, advice.Test{
		Tables: [][]advice.Fault{whole, b.addresses(t), b.lost(t), b.unfit(), b.findings(), b.versions(t), b.limits(), configurations(t), certificates(t), broken},
		Texts:  sources.Texts(t, filepath.Join("..", "..", "..", "natslease")), Least: 35, Unfollowed: unfollowed,
	})
}

// A bed is a server with buckets, and a client beside the store.
type bed struct {
	srv  *server
	raw  *client
	made jetstream.StreamConfig // of a bucket that a store has made
	seed string                 // of a user with a key
	n    int                    // of buckets
}

func newBed(t *testing.T) *bed {
	t.Helper()
	pair, err := nkeys.CreateUser()
	testkit.OK(t, err)
	public, err := pair.PublicKey()
	testkit.OK(t, err)
	seed, err := pair.Seed()
	testkit.OK(t, err)
	b := &bed{seed: string(seed)}
	b.srv = start(t, fmt.Sprintf(`accounts {
		usual { jetstream: enabled, users: [ { user: me, password: hunter2 }, { nkey: %s } ] }
		bounded { jetstream { max_store: 100000000, max_bytes_required: true }, users: [ { user: bounded, password: hunter2 } ] }
	}
	no_auth_user: me`, public))
	b.raw = raw(t, "nats://"+b.srv.Host())
	storetest.Prepare(t, natslease.Open, b.address("made"))
	b.made = config(t, b.raw, "made")
	return b
}

// config returns the settings of a bucket.
func config(t *testing.T, c *client, bucket string) jetstream.StreamConfig {
	t.Helper()
	stream, err := c.js.Stream(t.Context(), "KV_"+bucket)
	testkit.OK(t, err)
	return stream.CachedInfo().Config
}

// change changes a setting of a bucket.
func change(t *testing.T, c *client, bucket string, f func(c *jetstream.StreamConfig)) error {
	t.Helper()
	changed := config(t, c, bucket)
	f(&changed)
	_, err := c.js.UpdateStream(t.Context(), changed)
	return err
}

func (b *bed) address(bucket string, settings ...string) string {
	return storetest.Patient(at("nats://"+b.srv.Host(), bucket, settings...))
}

// fresh returns the name of a bucket that is not there.
func (b *bed) fresh() string {
	b.n++
	return fmt.Sprintf("b%d", b.n)
}

// make makes a bucket as a store makes buckets, but with other settings.
func (b *bed) make(t *testing.T, bucket string, f func(c *jetstream.StreamConfig)) {
	t.Helper()
	changed := b.made
	changed.Name, changed.Subjects, changed.Metadata = "KV_"+bucket, []string{"$KV." + bucket + ".>"}, nil
	f(&changed)
	if _, err := b.raw.js.CreateStream(t.Context(), changed); err != nil {
		t.Fatal(err)
	}
}

// command is a command of the tool of NATS in an advice.
var command = regexp.MustCompile(`nats stream edit KV_(\S+) ([^)]+)\)`)

// typed does what the command in a text does.
func typed(t *testing.T, c *client, text string) error {
	t.Helper()
	parts := command.FindStringSubmatch(text)
	if parts == nil {
		return fmt.Errorf("no command is in %q", text)
	}
	var err error
	return errors.Join(change(t, c, parts[1], func(c *jetstream.StreamConfig) {
		for flag := range strings.FieldsSeq(parts[2]) {
			name, value, _ := strings.Cut(flag, "=")
			switch name {
			case "--no-allow-direct":
				c.AllowDirect = false
			case "--no-discard-per-subject":
				c.DiscardNewPerSubject = false
			case "--no-allow-rollup":
				c.AllowRollup = false
			case "--deny-delete":
				c.DenyDelete = true
			case "--deny-purge":
				c.DenyPurge = true
			case "--max-age":
				c.MaxAge, err = time.ParseDuration(value)
			case "--max-bytes":
				c.MaxBytes *= 100
			case "--max-msgs":
				c.MaxMsgs *= 100
			case "--replicas":
				c.Replicas, err = strconv.Atoi(value)
			case "--discard":
				err = c.Discard.UnmarshalJSON([]byte(strconv.Quote(value)))
			default:
				err = errors.New(flag)
			}
		}
	}), err)
}

// opens opens a store, and reads.
func opens(t *testing.T, addr string) error {
	s, err := natslease.Open(t.Context(), addr)
	if err != nil {
		return err
	}
	defer s.Close()
	_, err = s.List(t.Context(), "")
	return err
}

// creates creates the pool, unless the pool is there.
func creates(t *testing.T, addr string) error {
	s, err := natslease.Open(t.Context(), addr)
	if err != nil {
		return err
	}
	defer s.Close()
	if err = minter.Create(t.Context(), s); errors.Is(err, lease.ErrPoolExists) {
		return nil
	}
	return err
}

// mints takes a worker of the pool, and makes an ID.
func mints(t *testing.T, addr string) error {
	s, err := natslease.Open(t.Context(), addr)
	if err != nil {
		return err
	}
	defer s.Close()
	gen, held, err := minter.Start(t.Context(), s, lease.Config{Window: time.Second, Timeout: wait.Patience})
	if err != nil {
		return err
	}
	defer held.Close()
	wait.For(func() bool { _, err = gen.Next(); return err == nil })
	return err
}

// rescued rescues the pool, and takes a worker. The windows are those of mints: the leases go on soon.
func rescued(t *testing.T, addr string, layouts bool) error {
	s, err := natslease.Open(t.Context(), addr)
	if err != nil {
		return err
	}
	defer s.Close()
	c := lease.RescueConfig{Window: 100 * time.Millisecond, Skew: 10 * time.Millisecond}
	if layouts {
		spec, err := (&minter.Generator{}).Pool()
		testkit.OK(t, err)
		c.Layouts, c.Create = []grant.Layout{spec.Layout}, true
	}
	if _, err := lease.Rescue(t.Context(), s, minter.Pool, c); err != nil {
		return err
	}
	return mints(t, addr)
}

// move is the part of an advice to go on in another place, and moved follows the part.
const move = "stop all processes that use this one, and rescue its pools there before any of them is started again (lease.Rescue there, with Layouts and Create)"

func (b *bed) moved(t *testing.T) error { return rescued(t, b.address(b.fresh()), true) }

// addresses are faults of the address.
func (b *bed) addresses(t *testing.T) []advice.Fault {
	const credentials = "-----BEGIN NATS USER JWT-----\nx\n------END NATS USER JWT------\n-----BEGIN USER NKEY SEED-----\n%s\n------END USER NKEY SEED------\n"
	creds := storetest.File(t, fmt.Sprintf(credentials, b.seed))
	as := func(user, bucket string, settings ...string) string {
		return strings.Replace(b.address(bucket, settings...), "nats://", "nats://"+user, 1)
	}
	opening := func(name, addr string, ways advice.Ways) advice.Fault {
		return advice.Fault{Name: name, Meet: func(t *testing.T) string { return advice.Text(t, opens(t, addr)) }, Ways: ways}
	}
	// A server that lets everybody in takes the credentials of anybody.
	anybody := start(t)
	storetest.Prepare(t, natslease.Open, anybody.address())
	return []advice.Fault{
		opening("the name of the bucket", b.address("a.b"), advice.Ways{
			"want up to 100 letters (a to z, A to Z), digits, '_' and '-'": func(t *testing.T) error {
				_, err := natslease.Open(t.Context(), b.address("aZ0_-"))
				return err
			},
			"want nats://host:4222,host2:4222/bucket?creds-file=…": func(t *testing.T) error {
				return opens(t, storetest.Patient("nats://"+anybody.Host()+","+storetest.Gone(t)+"/firn?creds-file="+creds))
			},
		}),
		opening("no such host", "nats://"+strings.Repeat("x", 64)+":"+strconv.Itoa(b.srv.Port)+"/made?timeout=10s", advice.Ways{
			"see that the name of the host is right": func(t *testing.T) error { return opens(t, b.address("made")) },
		}),
		opening("a wrong password", as("me:hunter3@", "made"), advice.Ways{
			"see that the credentials are right, and valid: user and password-file": func(t *testing.T) error {
				return errors.Join(opens(t, as("me@", "made", "password-file="+storetest.File(t, "hunter2"))), opens(t, as("", "made", "nkey-file="+storetest.File(t, b.seed))))
			},
		}),
		{Name: "an account that wants a limit", Meet: func(t *testing.T) string { return advice.Text(t, creates(t, as("bounded:hunter2@", "b"))) }, Ways: advice.Ways{
			"give the bucket a limit with max-bytes in the address": func(t *testing.T) error { return creates(t, as("bounded:hunter2@", "b", "max-bytes=10000000")) },
		}},
		{Name: "too few servers", Meet: func(t *testing.T) string { return advice.Text(t, creates(t, b.address("alone", "replicas=3"))) }, Ways: advice.Ways{
			"see replicas in the address": func(t *testing.T) error { return creates(t, b.address("alone", "replicas=1")) },
		}},
	}
}

// lost are faults of a place without the pool, and of a store that has lost changes.
func (b *bed) lost(t *testing.T) []advice.Fault {
	missing := b.fresh()
	testkit.OK(t, creates(t, b.address("made")))
	right := func(t *testing.T) error { return mints(t, b.address("made")) }
	create := func(t *testing.T) error {
		return errors.Join(creates(t, b.address(missing)), mints(t, b.address(missing)))
	}
	all := []advice.Fault{
		{Name: "no bucket", Meet: func(t *testing.T) string { return advice.Text(t, opens(t, b.address(missing))) }, Ways: advice.Ways{
			"see that the address is right, with its bucket and account":               right,
			"or create the pool, once, with firn pool create":                          create,
			"rescue each instead of creating it (lease.Rescue, with Layouts and Creat": b.moved,
		}},
	}
	doctored := b.fresh()
	all = append(all, advice.Fault{Name: "no bucket, in a finding", Meet: func(t *testing.T) string { return finding(t, b.address(doctored), "there is no bucket") }, Ways: advice.Ways{
		"see that the address is right": func(t *testing.T) error {
			return errors.Join(gone(t, b.address("made"), "there is no bucket"), right(t))
		},
		"or create it with firn pool create": func(t *testing.T) error {
			return errors.Join(creates(t, b.address(doctored)), gone(t, b.address(doctored), "there is no bucket"))
		},
		"rescue each instead of creating it (lease.Rescue, with Layouts and Creat": b.moved,
	}})

	damaged := b.fresh()
	damage := func(t *testing.T) string {
		testkit.OK(t, creates(t, b.address(damaged)))
		testkit.OK(t, mints(t, b.address(damaged)))
		s := storetest.Open(t, natslease.Open, b.address(damaged))
		list, err := s.List(t.Context(), minter.Pool+"/workers/")
		testkit.OK(t, err)
		bucket, err := b.raw.js.KeyValue(t.Context(), damaged)
		testkit.OK(t, err)
		keys, err := bucket.Keys(t.Context())
		testkit.OK(t, err)
		for _, key := range keys {
			if strings.Contains(key, "workers") {
				testkit.OK(t, bucket.Delete(t.Context(), key))
			}
		}
		_, err = s.Get(t.Context(), list[0].Key)
		return advice.Text(t, err)
	}
	all = append(all, advice.Fault{Name: "a deleted entry", Meet: damage, Ways: advice.Ways{
		"rescue the pool (lease.Rescue), which makes the entry again; do not repair, move or delete entries": func(t *testing.T) error {
			return errors.Join(rescued(t, b.address(damaged), false), opens(t, b.address(damaged)))
		},
	}})

	again := b.fresh()
	return append(all, advice.Fault{Name: "a bucket that is made again", Meet: func(t *testing.T) string {
		s := storetest.Prepare(t, natslease.Open, b.address(again))
		testkit.OK(t, b.raw.js.DeleteStream(t.Context(), "KV_"+again))
		b.make(t, again, func(*jetstream.StreamConfig) {})
		_, err := s.Get(t.Context(), "a")
		return advice.Text(t, err)
	}, Ways: advice.Ways{
		"stop all processes that use its pools, and rescue the pools before any of them is started again (lease.Rescue, with Layouts and Create if a pool is gone)": func(t *testing.T) error {
			return rescued(t, b.address(again), true)
		},
		"firn pool doctor names the settings at fault": func(t *testing.T) error {
			finding(t, b.address(again), b.raw.unsynced())
			return nil
		},
	}})
}

// finding returns a finding of a store as doctor prints the finding.
func finding(t *testing.T, addr, word string) string {
	t.Helper()
	return storetest.Found(t, storetest.Open(t, natslease.Open, addr), word)
}

// gone returns an error if a store has a finding.
func gone(t *testing.T, addr, word string) error {
	s, err := natslease.Open(t.Context(), addr)
	if err != nil {
		return err
	}
	defer s.Close()
	return storetest.Mended(t.Context(), s, word)
}

// another is the part of the advice on a bucket that does not suit leases.
const another = "name the bucket of the leases in the address, nats://host/bucket, which firn pool create makes"

// unfit are faults of buckets that do not suit leases.
func (b *bed) unfit() []advice.Fault {
	fault := func(name string, f func(c *jetstream.StreamConfig), ways ...string) advice.Fault {
		bucket, text := b.fresh(), ""
		fault := advice.Fault{Name: name, Meet: func(t *testing.T) string {
			b.make(t, bucket, f)
			text = advice.Text(t, creates(t, b.address(bucket)))
			return text
		}, Ways: advice.Ways{
			another: func(t *testing.T) error { return mints(t, b.address("made")) },
			move:    b.moved,
		}}
		for _, way := range ways {
			fault.Ways[way] = func(t *testing.T) error {
				return errors.Join(typed(t, b.raw, text), creates(t, b.address(bucket)), mints(t, b.address(bucket)))
			}
		}
		return fault
	}
	mirror := fault("a mirror", func(c *jetstream.StreamConfig) {
		*c = jetstream.StreamConfig{Name: c.Name, MaxMsgsPerSubject: 1, Mirror: &jetstream.StreamSource{Name: b.made.Name}}
	})
	mirror.Ways["name the bucket that it mirrors"] = func(t *testing.T) error { return mints(t, b.address("made")) }
	return []advice.Fault{
		mirror,
		fault("other subjects", func(c *jetstream.StreamConfig) { c.Subjects = []string{"foreign"} }),
		fault("old values", func(c *jetstream.StreamConfig) { c.AllowDirect = true }, "switch that off"),
		fault("the first change alone", func(c *jetstream.StreamConfig) { c.DiscardNewPerSubject = true }, "switch that off"),
		{Name: "a sealed bucket", Meet: func(t *testing.T) string {
			bucket := b.fresh()
			b.make(t, bucket, func(*jetstream.StreamConfig) {})
			// A sealed bucket can be made by a change alone.
			testkit.OK(t, change(t, b.raw, bucket, func(c *jetstream.StreamConfig) { c.Sealed = true }))
			return advice.Text(t, opens(t, b.address(bucket)))
		}, Ways: advice.Ways{another: func(t *testing.T) error { return mints(t, b.address("made")) }, move: b.moved}},
	}
}

// findings are findings about the settings of a bucket.
func (b *bed) findings() []advice.Fault {
	// fault is a finding with the word about a bucket. Each of the ways changes another bucket with the settings of the fault.
	type way func(t *testing.T, bucket, text string) error
	fault := func(word string, f func(c *jetstream.StreamConfig), ways map[string]way) advice.Fault {
		var bucket, text string
		meet := func(t *testing.T) string {
			bucket = b.fresh()
			b.make(t, bucket, f)
			testkit.OK(t, creates(t, b.address(bucket)))
			testkit.OK(t, puts(t, b.address(bucket), "something", 1400))
			text = finding(t, b.address(bucket), word)
			return text
		}
		fault := advice.Fault{Name: word, Meet: meet, Ways: advice.Ways{}}
		for says, way := range ways {
			fault.Ways[says] = func(t *testing.T) error {
				meet(t)
				return errors.Join(way(t, bucket, text), gone(t, b.address(bucket), word), mints(t, b.address(bucket)))
			}
		}
		return fault
	}
	typing := func(t *testing.T, _, text string) error { return typed(t, b.raw, text) }
	changing := func(f func(c *jetstream.StreamConfig)) way {
		return func(t *testing.T, bucket, _ string) error { return change(t, b.raw, bucket, f) }
	}
	nolimit := changing(func(c *jetstream.StreamConfig) { c.MaxBytes, c.MaxMsgs = -1, -1 })

	// moving is a finding that no change of the bucket mends.
	moving := func(word, says string, addr func(t *testing.T) string) advice.Fault {
		return advice.Fault{Name: word, Meet: func(t *testing.T) string { return finding(t, addr(t), word) }, Ways: advice.Ways{says: func(t *testing.T) error {
			bucket := b.fresh()
			return errors.Join(rescued(t, b.address(bucket), true), gone(t, b.address(bucket), word))
		}}}
	}
	// with makes a bucket with a setting, or returns the address of a proxy for a server that has no such setting.
	with := func(f func(c *jetstream.StreamConfig), has func(c jetstream.StreamConfig) bool, setting string) func(t *testing.T) string {
		return func(t *testing.T) string {
			bucket := b.fresh()
			b.make(t, bucket, f)
			if has(config(t, b.raw, bucket)) {
				return b.address(bucket)
			}
			const text = `"allow_rollup_hdrs":false`
			return storetest.Patient("nats://" + storetest.Replacing(t, b.srv.Host(), text, setting+strings.Repeat(" ", len(text)-len(setting))) + "/" + bucket)
		}
	}
	return []advice.Fault{
		moving("is kept in memory", move, with(func(c *jetstream.StreamConfig) { c.Storage = jetstream.MemoryStorage }, func(jetstream.StreamConfig) bool { return true }, "")),
		moving("persist mode async", move, with(func(c *jetstream.StreamConfig) { c.PersistMode = jetstream.AsyncPersistMode },
			func(c jetstream.StreamConfig) bool { return c.PersistMode == jetstream.AsyncPersistMode }, `"persist_mode":"async"`)),
		moving("allow_msg_ttl", "forbid it to those users; a bucket that firn pool create makes does not allow it", with(func(c *jetstream.StreamConfig) { c.AllowMsgTTL = true },
			func(c jetstream.StreamConfig) bool { return c.AllowMsgTTL }, `"allow_msg_ttl":true`)),
		fault("deletes entries that are 1h0m0s old", func(c *jetstream.StreamConfig) { c.MaxAge = time.Hour }, map[string]way{"set its max_age to 0": typing}),
		fault("discard old", func(c *jetstream.StreamConfig) { c.MaxMsgs, c.Discard = 100, jetstream.DiscardOld }, map[string]way{
			"let it refuse new ones instead": typing, "or take the limit away": nolimit,
		}),
		fault("messages of other streams", func(c *jetstream.StreamConfig) { c.Sources = []*jetstream.StreamSource{{Name: "other"}} }, map[string]way{
			"take its sources away": changing(func(c *jetstream.StreamConfig) { c.Sources = nil }),
		}),
		fault("can be deleted by users", func(c *jetstream.StreamConfig) { c.DenyDelete, c.DenyPurge, c.AllowRollup = false, false, true }, map[string]way{
			"forbid it to all users": typing,
		}),
		fault("nearly full: 2 entries", func(c *jetstream.StreamConfig) { c.MaxMsgs = 2 }, map[string]way{"raise its max_msgs": typing}),
		fault("bytes of 2000", func(c *jetstream.StreamConfig) { c.MaxBytes = 2000 }, map[string]way{"raise its max_bytes": typing}),
	}
}
