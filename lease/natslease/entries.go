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

// Prepare makes the bucket: on disk, without a limit to the age or number of its entries, and
// without the right to delete single entries. If the bucket exists, Prepare only checks the bucket.
func (s *Store) Prepare(ctx context.Context) error {
	return driver.Do(ctx, s.Handle, "prepare", func(ctx context.Context) error {
		_, _, err := s.stream(ctx)
		if !errors.Is(err, jetstream.ErrStreamNotFound) {
			return err
		}
		if _, err = s.js.CreateStream(ctx, s.config()); err != nil && !errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
			return s.readable(err)
		}
		_, _, err = s.stream(ctx)
		return err
	})
}

// stream asks the stream's leader for the state of the stream, and returns a stream that suits
// leases.
func (s *Store) stream(ctx context.Context) (jetstream.Stream, *jetstream.StreamInfo, error) {
	before := s.seen.Seen()
	for patience := time.Now().Add(time.Second); ; {
		stream, err := s.js.Stream(ctx, s.streamName())
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			return nil, nil, &driver.Error{Err: fmt.Errorf("%w: there is no bucket %s: %w", driver.ErrRefused, s.options.Bucket, err), Remedy: driver.RemedyCreate}
		}
		if err != nil {
			return nil, nil, s.readable(err)
		}
		info := stream.CachedInfo()
		if f := unfit(s.options.Bucket, &info.Config); f.Text != "" {
			return nil, nil, &driver.Error{Err: fmt.Errorf("%w: the bucket %s %s", driver.ErrUnsafe, s.options.Bucket, f.Text), Remedy: f.Remedy}
		}
		err = s.backwards(info, before)
		switch {
		case err == nil:
			return stream, info, nil
		case errors.Is(err, errBehind) && time.Now().Before(patience):
			// A new leader may not have read the whole log yet.
			select {
			case <-ctx.Done():
				return nil, nil, ctx.Err()
			case <-time.After(50 * time.Millisecond):
			}
			continue
		}
		return nil, nil, driver.Latch(&driver.Error{Err: err, Remedy: driver.RemedyRestored})
	}
}

var errBehind = errors.New("it has forgotten some")

// backwards returns an error if the stream was made at another time than before, or if the sequence
// of the last message is lower.
//
// In another stream, or after a server lost changes, other changes can have the same sequences, and
// a compare-and-swap proves nothing. backwards sees no loss from before this store was opened.
func (s *Store) backwards(info *jetstream.StreamInfo, before uint64) error {
	created := info.Created.UnixNano()
	s.created.CompareAndSwap(0, created)
	switch {
	case s.created.Load() != created:
		return fmt.Errorf("%w: the bucket was deleted, and made again on %s", driver.ErrUnsafe, info.Created.UTC().Format(time.RFC3339))
	case info.State.LastSeq < before:
		return fmt.Errorf("%w: the bucket has seen %d changes, but had seen %d: %w", driver.ErrUnsafe, info.State.LastSeq, before, errBehind)
	}
	s.seen.Advance(info.State.LastSeq)
	return nil
}

// unfit returns a finding that says why a stream does not suit leases, or none.
func unfit(bucket string, c *jetstream.StreamConfig) driver.Finding {
	switch {
	case c.Mirror != nil:
		return driver.Finding{Text: "is a mirror of another one, and cannot be written", Advice: "name the bucket that it mirrors", Remedy: driver.RemedyAddress}
	case c.MaxMsgsPerSubject < 1, c.Retention != jetstream.LimitsPolicy, !slices.Equal(c.Subjects, []string{"$KV." + bucket + ".>"}), c.SubjectTransform != nil, c.NoAck:
		return driver.Finding{Text: "is not one of keys and values", Advice: "use another bucket", Remedy: driver.RemedyMove}
	case c.AllowDirect:
		return driver.Finding{Text: "lets any replica answer reads (allow_direct), also with old values",
			Advice: "switch that off (nats stream edit KV_" + bucket + " --no-allow-direct)", Remedy: driver.RemedySettings}
	case c.DiscardNewPerSubject:
		return driver.Finding{Text: "takes the first change of an entry, and no other one (discard_new_per_subject)",
			Advice: "switch that off (nats stream edit KV_" + bucket + " --no-discard-per-subject)", Remedy: driver.RemedySettings}
	case c.Sealed:
		return driver.Finding{Text: "is sealed: it takes no more changes", Advice: "use another bucket", Remedy: driver.RemedyMove}
	}
	return driver.Finding{}
}

func revision(info *jetstream.StreamInfo, sequence uint64) driver.Revision {
	return driver.Revision(strconv.FormatUint(sequence, 10) + "." + strconv.FormatInt(info.Created.UnixNano(), 36))
}

func (s *Store) get(ctx context.Context, key string) (driver.Entry, error) {
	stream, info, err := s.stream(ctx)
	if err != nil {
		return driver.Entry{}, err
	}
	return s.getOf(ctx, key, stream, info)
}

// getOf reads an entry of a stream.
func (s *Store) getOf(ctx context.Context, key string, stream jetstream.Stream, info *jetstream.StreamInfo) (driver.Entry, error) {
	m, err := stream.GetLastMsgForSubject(ctx, s.subject(encode(key)))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return driver.Entry{}, driver.ErrNotFound
	}
	if err != nil {
		return driver.Entry{}, s.readable(err)
	}
	s.seen.Advance(m.Sequence)
	e := driver.Entry{Key: key, Value: m.Data, Revision: revision(info, m.Sequence)}
	if m.Header.Get("KV-Operation") != "" || m.Header.Get("Nats-Marker-Reason") != "" {
		return e, fmt.Errorf("%w: the entry was deleted", driver.ErrDamaged)
	}
	return e, nil
}

// readers is the number of entries that list reads at a time.
const readers = 32

// list leaves out keys of the bucket that name no entry. It reads each entry by itself: a replica
// that is behind could answer a request for all entries.
func (s *Store) list(ctx context.Context, prefix string) ([]driver.Entry, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, info, err := s.stream(ctx)
	if err != nil {
		return nil, err
	}
	all, err := stream.Info(ctx, jetstream.WithSubjectFilter(s.subject(pattern(prefix))))
	if err != nil {
		return nil, s.readable(err)
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
				e, err := s.getOf(ctx, list[i].Key, stream, info)
				switch {
				case errors.Is(err, driver.ErrDamaged):
					e.Err = err
				case err != nil && !errors.Is(err, driver.ErrNotFound):
					failed <- err
					cancel()
					return
				}
				list[i] = e // without a key if there is no such entry any more
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
		return nil, ctx.Err()
	}
	return slices.DeleteFunc(list, func(e driver.Entry) bool { return e.Key == "" }), nil
}

// put cannot cancel a request: the change of an abandoned call may still be made later.
func (s *Store) put(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
	_, info, err := s.stream(ctx)
	if err != nil {
		return driver.None, err
	}
	var last uint64 // 0 is the sequence of no message
	if rev != driver.None {
		sequence, _, _ := strings.Cut(string(rev), ".")
		if last, err = strconv.ParseUint(sequence, 10, 64); err != nil || last == 0 || revision(info, last) != rev {
			return driver.None, driver.ErrConflict // no entry has the revision
		}
	}
	bucket, err := s.bucket(ctx)
	if err == nil {
		last, err = bucket.Update(ctx, encode(key), value, last)
	}
	switch {
	case errors.Is(err, jetstream.ErrKeyRevisionMismatch), errors.Is(err, jetstream.ErrKeyExists):
		return driver.None, driver.ErrConflict
	case err != nil:
		return driver.None, s.readable(err)
	}
	s.seen.Advance(last)
	return revision(info, last), nil
}
