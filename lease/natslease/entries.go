package natslease

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/internal/advice"
)

func (s *Store) streamName() string        { return "KV_" + s.options.Bucket }
func (s *Store) subject(key string) string { return "$KV." + s.options.Bucket + "." + key }
func (s *Store) config() (c jetstream.StreamConfig) {
	c = jetstream.StreamConfig{
		Name: s.streamName(), Description: "Leases of Firn. To delete this, or a message of it, is to have IDs made twice.",
		Subjects: []string{s.subject(">")}, MaxMsgsPerSubject: 1, Storage: jetstream.FileStorage, Discard: jetstream.DiscardNew,
		DenyDelete: true, DenyPurge: true, Replicas: s.options.Replicas, MaxBytes: s.options.MaxBytes,
		MaxMsgs: -1, MaxMsgSize: -1, MaxConsumers: -1,
	}
	if c.MaxBytes == 0 {
		c.MaxBytes = -1
	}
	if c.Replicas == 0 {
		c.Replicas = 1
		if s.conn.ConnectedClusterName() != "" {
			c.Replicas = 3
		}
	}
	return c
}

// Prepare makes the bucket, if there is none: on disk, without any limit to the age or number of its entries, and so that
// nobody can delete single ones. Where the bucket is there it does nothing but see that it is one for leases.
func (s *Store) Prepare(ctx context.Context) error {
	ctx, cancel := s.within(ctx)
	defer cancel()
	_, _, err := s.stream(ctx, "prepare", "")
	if !errors.Is(err, jetstream.ErrStreamNotFound) {
		return err
	}
	if _, err = s.js.CreateStream(ctx, s.config()); err != nil && !errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
		return s.fail(ctx, "prepare", "", err)
	}
	_, _, err = s.stream(ctx, "prepare", "")
	return err
}

// stream asks the stream's leader what the stream is, and returns it if it is one for leases.
func (s *Store) stream(ctx context.Context, op, key string) (jetstream.Stream, *jetstream.StreamInfo, error) {
	if err := s.admit(ctx, op, key); err != nil {
		return nil, nil, err
	}
	before := s.seen.Load()
	for patience := time.Now().Add(time.Second); ; {
		stream, err := s.js.Stream(ctx, s.streamName())
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			err = s.error(op, key, fmt.Errorf("%w: there is no bucket %s: %w", driver.ErrUnavailable, s.options.Bucket, err),
				"see that the address is right, with its bucket and account, or create the pool, once, with firn pool create; "+advice.Lost)
			return nil, nil, err
		}
		if err != nil {
			return nil, nil, s.fail(ctx, op, key, err)
		}
		info := stream.CachedInfo()
		if why, what := unfit(s.options.Bucket, &info.Config); why != "" {
			return nil, nil, s.error(op, key, fmt.Errorf("%w: the bucket %s %s", driver.ErrUnsafe, s.options.Bucket, why), what)
		}
		err = s.knows(info, before)
		switch {
		case err == nil:
			return stream, info, nil
		case errors.Is(err, errBehind) && time.Now().Before(patience):
			// A leader that has just become one may not have read all of its log.
			select {
			case <-ctx.Done():
				return nil, nil, s.fail(ctx, op, key, ctx.Err())
			case <-time.After(50 * time.Millisecond):
			}
			continue
		}
		s.unsafe.CompareAndSwap(nil, &err)
		return nil, nil, s.error(op, key, err, adviceUnsafe)
	}
}

var errBehind = errors.New("it has forgotten some")

// knows looks at when the stream was made, and at the sequence of its last message, which no later answer has
// lower.
//
// The sequences of another stream, or of one whose server has lost changes, can be those of other changes: a
// compare-and-swap says nothing there. This finds it out for the life of a store. A restart of this process after
// that it cannot see.
func (s *Store) knows(info *jetstream.StreamInfo, before uint64) error {
	created := info.Created.UnixNano()
	s.created.CompareAndSwap(0, created)
	switch {
	case s.created.Load() != created:
		return fmt.Errorf("%w: the bucket was deleted, and made again on %s", driver.ErrUnsafe, info.Created.UTC().Format(time.RFC3339))
	case info.State.LastSeq < before:
		return fmt.Errorf("%w: the bucket has seen %d changes, but had seen %d: %w", driver.ErrUnsafe, info.State.LastSeq, before, errBehind)
	}
	s.saw(info.State.LastSeq)
	return nil
}

func (s *Store) saw(sequence uint64) {
	for seen := s.seen.Load(); sequence > seen && !s.seen.CompareAndSwap(seen, sequence); seen = s.seen.Load() {
	}
}

// unfit returns why a stream cannot be a store of leases, and what to do, or "".
func unfit(bucket string, c *jetstream.StreamConfig) (why, what string) {
	another := "name the bucket of the leases in the address, nats://host/bucket, which firn pool create makes; " + advice.Move("in another bucket")
	switch {
	case c.Mirror != nil:
		return "is a mirror of another one, and cannot be written", "name the bucket that it mirrors, or " + another
	case c.MaxMsgsPerSubject < 1, c.Retention != jetstream.LimitsPolicy, !slices.Equal(c.Subjects, []string{"$KV." + bucket + ".>"}), c.SubjectTransform != nil, c.NoAck:
		return "is not one of keys and values", another
	case c.AllowDirect:
		return "lets any replica answer reads (allow_direct), also with what was so some time ago",
			"switch that off (nats stream edit KV_" + bucket + " --no-allow-direct), or " + another
	case c.Sealed:
		return "is sealed: it takes no more changes", another
	}
	return "", ""
}

const adviceUnsafe = "the servers have lost what they had acknowledged, or the bucket was deleted, and times that were given out can be given out again: " +
	advice.Forgotten + "; firn pool doctor says which settings let it forget"

func revision(info *jetstream.StreamInfo, sequence uint64) driver.Revision {
	return driver.Revision(strconv.FormatUint(sequence, 10) + "." + strconv.FormatInt(info.Created.UnixNano(), 36))
}

// Get is as [driver.Store] says.
func (s *Store) Get(ctx context.Context, key string) (driver.Entry, error) {
	if err := driver.CheckKey(key); err != nil {
		return driver.Entry{}, s.error("get", "", err, "")
	}
	ctx, cancel := s.within(ctx)
	defer cancel()
	stream, info, err := s.stream(ctx, "get", key)
	if err != nil {
		return driver.Entry{}, err
	}
	e, err := s.get(ctx, "get", key, stream, info)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		err = s.error("get", key, driver.ErrNotFound, "")
	}
	return e, err
}

// get reads an entry. The error for one that is missing is ErrMsgNotFound.
func (s *Store) get(ctx context.Context, op, key string, stream jetstream.Stream, info *jetstream.StreamInfo) (driver.Entry, error) {
	m, err := stream.GetLastMsgForSubject(ctx, s.subject(encode(key)))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return driver.Entry{}, err
	}
	if err != nil {
		return driver.Entry{}, s.fail(ctx, op, key, err)
	}
	s.saw(m.Sequence)
	e := driver.Entry{Key: key, Revision: revision(info, m.Sequence)}
	switch {
	case m.Header.Get("KV-Operation") != "" || m.Header.Get("Nats-Marker-Reason") != "":
		return e, s.error(op, key, fmt.Errorf("%w: the entry was deleted", driver.ErrDamaged), advice.Damaged)
	case len(m.Data) > driver.MaxValue:
		return e, s.error(op, key, fmt.Errorf("%w: it has %d bytes, more than an entry", driver.ErrDamaged, len(m.Data)), advice.Damaged)
	}
	e.Value = m.Data
	return e, nil
}

// readers is how many entries List reads at a time.
const readers = 32

// List returns the entries as [driver.Store] says. Keys of the bucket that name no entry are left out. List reads the
// entries one by one: a replica that is behind could answer a request for all of them.
func (s *Store) List(ctx context.Context, prefix string) ([]driver.Entry, error) {
	ctx, cancel := s.within(ctx)
	defer cancel()
	stream, info, err := s.stream(ctx, "list", "")
	if err != nil {
		return nil, err
	}
	if driver.CheckKey(prefix+"a") != nil {
		return nil, nil // no key begins so
	}
	all, err := stream.Info(ctx, jetstream.WithSubjectFilter(s.subject(pattern(prefix))))
	if err != nil {
		return nil, s.fail(ctx, "list", prefix, err)
	}
	var list []driver.Entry
	for subject := range all.State.Subjects {
		if key, ok := decode(strings.TrimPrefix(subject, s.subject(""))); ok && strings.HasPrefix(key, prefix) {
			list = append(list, driver.Entry{Key: key})
		}
	}
	var (
		wg     sync.WaitGroup
		next   = make(chan int)
		failed = make(chan error, readers)
	)
	for range min(readers, len(list)) {
		wg.Go(func() {
			for i := range next {
				e, err := s.get(ctx, "list", list[i].Key, stream, info)
				switch {
				case errors.Is(err, driver.ErrDamaged):
					e.Err = err
				case err != nil && !errors.Is(err, jetstream.ErrMsgNotFound):
					failed <- err
					cancel()
					return
				}
				list[i] = e // without a key if it is gone
			}
		})
	}
	for i := range list {
		select {
		case next <- i:
		case <-ctx.Done():
		}
	}
	close(next)
	wg.Wait()
	select {
	case err := <-failed:
		return nil, err
	default:
	}
	if ctx.Err() != nil {
		return nil, s.fail(ctx, "list", prefix, ctx.Err())
	}
	list = slices.DeleteFunc(list, func(e driver.Entry) bool { return e.Key == "" })
	slices.SortFunc(list, func(a, b driver.Entry) int { return strings.Compare(a.Key, b.Key) })
	if i := slices.IndexFunc(list, func(e driver.Entry) bool { return e.Err != nil }); i >= 0 {
		return list, list[i].Err
	}
	return list, nil
}

// Put is as [driver.Store] says. A Put that was given up may still be made later.
func (s *Store) Put(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
	err := driver.CheckKey(key)
	if err == nil && len(value) > driver.MaxValue {
		err = fmt.Errorf("%w: a value of %d bytes, where at most %d are taken", driver.ErrKey, len(value), driver.MaxValue)
	}
	if err != nil {
		return driver.None, s.error("put", "", err, "")
	}
	ctx, cancel := s.within(ctx)
	defer cancel()
	_, info, err := s.stream(ctx, "put", key)
	if err != nil {
		return driver.None, err
	}
	var last uint64 // 0 is that of no message
	if rev != driver.None {
		sequence, _, _ := strings.Cut(string(rev), ".")
		if last, err = strconv.ParseUint(sequence, 10, 64); err != nil || last == 0 || revision(info, last) != rev {
			return driver.None, s.error("put", key, driver.ErrConflict, "") // no entry has it
		}
	}
	bucket, err := s.bucket(ctx)
	if err == nil {
		last, err = bucket.Update(ctx, encode(key), value, last)
	}
	switch {
	case errors.Is(err, jetstream.ErrKeyRevisionMismatch), errors.Is(err, jetstream.ErrKeyExists):
		return driver.None, s.error("put", key, driver.ErrConflict, "")
	case err != nil:
		return driver.None, s.fail(ctx, "put", key, err)
	}
	s.saw(last)
	return revision(info, last), nil
}
