package times

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/formats"
	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/shape"
)

// atFlags are the flags of firn at.
type atFlags struct {
	source
	count    cli.Count
	worker   formats.Worker
	sequence cli.Number
	meta     cli.Number
	as       formats.Form
	json     bool
}

// At returns the command firn at.
func At(s *cli.Streams) *cobra.Command {
	f := atFlags{count: 1}
	cmd := &cobra.Command{
		Use:   "at FORMAT [TIME]... [-n COUNT]",
		Short: "Generate IDs for given times, to back-fill rows",
		Example: `  firn at scru160 2026-07-01T10:00:00Z
  firn at nanoflake 2026-07-01 -n 3 --worker 1023
  echo 2026-07-01 | firn at snowflakesi --worker 31`,
		ValidArgsFunction: formats.CompleteFormat,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usagef("no format given: want %s", cli.List(formats.Names(), "or"))
			}
			m, err := f.maker(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return f.answer(s, m, args[1:])
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.VarP(&f.count, "count", "n", "make this many IDs for each TIME")
	f.worker.AddTo(cmd, "the largest")
	flags.Var(&f.sequence, "sequence", "first sequence in each tick (default: 0)")
	formats.AddMeta(cmd, &f.meta)
	f.as.AddTo(cmd, "write IDs as text, int or hex", formats.WrittenForms)
	flags.BoolVar(&f.json, "json", false, "write one JSON object per ID")
	f.source.addTo(cmd)
	cli.Complete(cmd, "count")
	cli.Complete(cmd, "sequence")
	return cmd
}

// maker returns a maker for the flags, or an error of usage.
func (f *atFlags) maker(ctx context.Context, format string) (*maker, error) {
	l, err := f.layout(ctx, format)
	if err != nil {
		return nil, err
	}
	if f.json && f.as.Given {
		return nil, cli.Usagef("--as %s: cannot be used with --json, which has every form", f.as)
	}
	if err := f.as.Refuse(l.Format); err != nil {
		return nil, err
	}
	m := &maker{layout: l, recipe: formats.Recipe{Recipe: shape.Recipe{Settings: l.settings}, Format: l.Format, Form: f.as.Form, JSON: f.json}, next: make(map[int64]int)}
	if err := f.worker.Check(l.Format, &l.shape); err != nil {
		return nil, err
	}
	if m.worker = f.worker.Value; !f.worker.Given {
		m.worker, _ = l.shape.LastWorker()
		m.note = m.worker > 0
	}
	m.meta = f.meta.Value
	if last := 1<<l.shape.Fields[l.shape.Meta].Bits - 1; f.meta.Given && (m.meta < 0 || m.meta > last) {
		return nil, cli.BadFlag("meta", f.meta.Text, "is not in 0 to "+strconv.Itoa(last))
	}
	m.sequence = f.sequence.Value
	switch most := m.room() - 1; {
	case f.sequence.Given && m.random():
		return nil, cli.Usagef("--sequence: the sequence of %s begins at a random number: leave out --sequence", l.Name())
	case m.sequence < 0 || m.sequence > most:
		return nil, cli.BadFlag("sequence", f.sequence.Text, "is not in 0 to "+strconv.Itoa(most))
	}
	return m, nil
}

// answer writes the IDs of the TIMEs.
func (f *atFlags) answer(s *cli.Streams, m *maker, words []string) error {
	for _, word := range words {
		if word == "-" {
			continue
		}
		at, err := m.time(word)
		if err == nil {
			_, err = m.tick(at)
		}
		if err != nil {
			return cli.Usagef("%s: %w", cli.Plain(word), err)
		}
	}
	if m.note && f.count > 0 {
		fmt.Fprintf(s.Err, "firn: note: the IDs have the %s %d, the largest: --worker says another\n", m.WorkerName(), m.worker)
	}
	warned := m.created.IsZero() || m.apart()
	var line []byte
	s.Reads = "times"
	in := cli.Inputs{Streams: s, JSON: f.json, Answer: func(word string) (invalid, err error) {
		at, err := m.time(word)
		if err != nil {
			return err, nil
		}
		if !warned && !at.Value.Before(m.created) {
			warned = true
			fmt.Fprintf(s.Err, "firn: note: pool %s was created at %s: IDs of later times are unique only if no generator had the worker then\n", f.Name, cli.TimeText(m.created))
		}
		for range f.count {
			id, err := m.id(at)
			if err != nil {
				return err, nil
			}
			if line, err = m.recipe.Append(line[:0], id); err != nil {
				return nil, err
			}
			if _, err := s.Out.Write(append(line, '\n')); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}}
	return in.Each(words)
}

// A maker makes IDs of given times. No two of its IDs are equal.
type maker struct {
	layout
	recipe   formats.Recipe
	worker   int
	meta     int
	sequence int  // the first of a tick, unless the sequence begins at random
	note     bool // the worker is the default

	// next has the next sequence of each tick that has an ID already. If random bits keep IDs apart, next
	// has only the last tick.
	next map[int64]int
}

// A tick is what IDs of the same sequence differ by: the timestamp, and the microseconds.
type tick struct{ stamp, micro int64 }

// time returns the time of a word.
func (m *maker) time(word string) (cli.Time, error) {
	t, err := cli.ParseTime(word)
	return cli.Time{Value: t, Text: word, Given: true}, err
}

// tick returns the tick of a time, or an error for a time that no ID has.
func (m *maker) tick(at cli.Time) (tick, error) {
	stamp, ok := m.shape.Timestamp(at.Value)
	if !ok || m.Descriptor().Reserved && (stamp == 0 || stamp == m.shape.LastTimestamp()) {
		return tick{}, outsideOf(m.layout, at)
	}
	t := tick{stamp: stamp}
	if m.shape.Micro > 0 {
		t.micro = int64(at.Value.Nanosecond()) / int64(time.Microsecond) % 1000
	}
	return t, nil
}

// room returns how many sequences of a tick the maker uses. An int of 32 bits has room for the number.
func (m *maker) room() int {
	const most = 30 // bits
	return 1 << min(m.shape.Fields[m.shape.Sequence].Bits, most)
}

// random reports whether the sequence of a tick begins at random.
func (m *maker) random() bool { return m.shape.Fields[m.shape.Sequence].Random }

// apart reports whether IDs have enough random bits beside the sequence to differ by these bits alone.
func (m *maker) apart() bool {
	const enough = 64
	bits := 0
	for i, f := range m.shape.Fields {
		if f.Random && i != m.shape.Sequence {
			bits += f.Bits
		}
	}
	return bits >= enough
}

// id returns a new ID of a time. The error is of the type *[iderr.TimeError] for a time out of range, and
// [iderr.ErrExhausted] if the tick has no sequence left.
func (m *maker) id(at cli.Time) ([]byte, error) {
	t, err := m.tick(at)
	if err != nil {
		return nil, err
	}
	key := t.stamp*1000 + t.micro
	sequence, seen := m.next[key]
	if !seen {
		if m.apart() {
			clear(m.next)
		}
		sequence = m.first(t)
	}
	if sequence >= m.room() {
		return nil, m.exhausted(at)
	}
	m.next[key] = sequence + 1
	id := make([]byte, m.Descriptor().Size)
	m.draw(id)
	fields := m.shape.Fields
	fields[0].Put(id, uint64(t.stamp))
	fields[m.shape.Sequence].Put(id, uint64(sequence))
	if i := m.shape.Worker; i > 0 {
		fields[i].Put(id, uint64(m.worker))
	}
	if i := m.shape.Micro; i > 0 {
		fields[i].Put(id, uint64(t.micro))
	}
	if i := m.shape.Meta; i > 0 {
		fields[i].Put(id, uint64(m.meta))
	}
	return id, nil
}

// first returns the first sequence of a tick: a random number in the lower half if the sequence begins at
// random. The zero ID stands for "no ID", and is left out.
func (m *maker) first(t tick) int {
	sequence := m.sequence
	if m.random() {
		sequence = int(random64() % uint64(m.room()/2))
	}
	if sequence == 0 && t == (tick{}) && m.worker == 0 && m.meta == 0 {
		sequence = 1
	}
	return sequence
}

// draw sets the random bits of an ID.
func (m *maker) draw(id []byte) {
	const most = 56 // bits of a part
	for i, f := range m.shape.Fields {
		if !f.Random || i == m.shape.Sequence {
			continue
		}
		for from := 0; from < f.Bits; from += most {
			part := shape.Field{Bits: min(most, f.Bits-from), Shift: f.Shift + from}
			part.Put(id, random64())
		}
	}
}

// random64 returns 64 random bits of the system.
func random64() uint64 {
	var b [8]byte
	rand.Read(b[:])
	return binary.BigEndian.Uint64(b[:])
}

// exhausted returns the error of a tick that has no sequence left.
func (m *maker) exhausted(at cli.Time) error {
	rest := "give the rest another time"
	if last, _ := m.shape.LastWorker(); last > 0 {
		rest = "make the rest with another --worker"
	}
	return fmt.Errorf("%s: %w: the tick of %s has no room for more IDs: %s", m.Name(), iderr.ErrExhausted, cli.TimeText(at.Value), rest)
}
