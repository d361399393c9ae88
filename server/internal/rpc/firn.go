package rpc

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/firn-id/firn/server/firnv1"
	"github.com/firn-id/firn/server/internal/access"
	"github.com/firn-id/firn/server/internal/reason"
	"github.com/firn-id/firn/server/internal/supply"
)

// DefaultBatch is the most IDs of a batch, if the request does not say.
const DefaultBatch = 1024

// Take implements the method of the service.
func (s *Service) Take(ctx context.Context, r *firnv1.TakeRequest) (*firnv1.Batch, error) {
	began := time.Now()
	bearer := bearerOf(ctx)
	g, err := s.find(bearer, r.GetName())
	if err != nil {
		return nil, err
	}
	n := 1
	if r.Count != nil {
		if n, err = s.count("count", r.GetCount()); err != nil {
			return nil, err
		}
	}
	m, err := newMaker(g, r.GetEncoding())
	if err != nil {
		return nil, err
	}
	if err := bearer.Take(g.Name, n); err != nil {
		return nil, err
	}
	answer, err := m.next(ctx, n)
	if err != nil {
		return nil, err // the IDs before the error are IDs of nobody
	}
	s.Calls.Answered(1, time.Since(began))
	return answer, nil
}

// find returns the generator of a name, if the bearer may take IDs of the generator.
func (s *Service) find(bearer *access.Bearer, name string) (*supply.Source, error) {
	g, err := s.Set.Find(name)
	if err != nil {
		return nil, err
	}
	return g, bearer.May(g.Name)
}

// count returns the number of a field that is a number of IDs.
func (s *Service) count(field string, n uint32) (int, error) {
	if n == 0 || uint64(n) > uint64(s.maxIDs()) {
		return 0, reason.Count.New("%s is %d: ask for 1 to %d IDs", field, n, s.maxIDs())
	}
	return int(n), nil
}

// Stream implements the method of the service.
func (s *Service) Stream(r *firnv1.StreamRequest, stream grpc.ServerStreamingServer[firnv1.Batch]) error {
	ctx := stream.Context()
	bearer := bearerOf(ctx)
	g, err := s.find(bearer, r.GetName())
	if err != nil {
		return err
	}
	most := min(DefaultBatch, s.maxIDs())
	if r.Batch != nil {
		if most, err = s.count("batch", r.GetBatch()); err != nil {
			return err
		}
	}
	left := uint64(math.MaxUint64) // of a stream without end, which lasts longer than the timestamps of any format
	if r.Total != nil {
		if left = r.GetTotal(); left == 0 {
			return reason.Count.New("total is 0: ask for 1 ID at least, or leave total out for a stream without end")
		}
	}
	m, err := newMaker(g, r.GetEncoding())
	if err != nil {
		return err
	}
	end, err := ctx.Value(connKey{}).(*conn).reserve(m.length(most))
	if err != nil {
		return err
	}
	defer end()
	for left > 0 {
		if s.draining() {
			return reason.Draining.New("the server is stopping: connect again")
		}
		began := time.Now()
		n := int(min(uint64(most), left))
		if err := bearer.Take(g.Name, n); err != nil {
			if err = s.pause(ctx, err); err != nil {
				return err
			}
			continue
		}
		batch, err := m.next(ctx, n)
		if batch.GetCount() > 0 {
			s.Calls.Answered(1, time.Since(began))
			if err := stream.SendMsg(message{batch, buffers}); err != nil {
				return err
			}
			left -= uint64(batch.GetCount())
		}
		if err != nil && (batch.GetCount() == 0 || reason.Of(err).Of != reason.Exhausted) {
			return err
		}
	}
	return nil
}

// A maker makes batches of one generator.
type maker struct {
	of    *supply.Source
	texts bool
	ids   []byte // of the last batch, packed
}

func newMaker(g *supply.Source, e firnv1.Encoding) (*maker, error) {
	switch e {
	case firnv1.Encoding_ENCODING_UNSPECIFIED, firnv1.Encoding_ENCODING_PACKED:
		return &maker{of: g}, nil
	case firnv1.Encoding_ENCODING_TEXT:
		return &maker{of: g, texts: true}, nil
	}
	return nil, reason.Form.New("encoding is %d, which this server does not know: use ENCODING_PACKED or ENCODING_TEXT", e)
}

// length returns the bytes of n IDs in a message, at most.
func (m *maker) length(n int) int {
	if m.texts {
		return n * (m.of.Format.Descriptor().Text.Most + 2)
	}
	return n * m.of.Size
}

// next returns a batch of n new IDs, which is valid until the next call. With an error, there are fewer.
func (m *maker) next(ctx context.Context, n int) (*firnv1.Batch, error) {
	var err error
	m.ids, err = m.of.AppendBinary(ctx, slices.Grow(m.ids[:0], n*m.of.Size), n)
	b := &firnv1.Batch{Format: m.of.Format.Name(), Width: uint32(m.of.Size), Count: uint32(len(m.ids) / m.of.Size)}
	if !m.texts {
		b.ByteOrder, b.Packed = firnv1.ByteOrder_BYTE_ORDER_BIG_ENDIAN, m.ids
		return b, err
	}
	write := m.of.Format.Descriptor().Writer()
	b.Texts = make([]string, 0, b.Count)
	var text []byte
	for ids := m.ids; len(ids) > 0; ids = ids[m.of.Size:] {
		var bad error
		if text, bad = write(text[:0], ids[:m.of.Size]); bad != nil {
			return nil, bad
		}
		b.Texts = append(b.Texts, string(text))
	}
	return b, err
}

// pause waits if a token may take more IDs later: a stream keeps to the rate of its token. Otherwise pause returns why the
// token may take no IDs.
func (s *Service) pause(ctx context.Context, why error) error {
	e := reason.Of(why)
	if e.Of != reason.Limit || e.Retry <= 0 {
		return why
	}
	const longest = time.Second // the token may be revoked meanwhile
	t := time.NewTimer(min(e.Retry, longest))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-s.drained:
		return nil // the caller knows why
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Inspect implements the method of the service.
func (s *Service) Inspect(ctx context.Context, r *firnv1.InspectRequest) (*firnv1.InspectResponse, error) {
	began := time.Now()
	all, err := s.inspect(ctx, r)
	if err != nil {
		return nil, err
	}
	answer := &firnv1.InspectResponse{}
	for _, v := range all {
		answer.Candidates = append(answer.Candidates, candidate(v))
	}
	s.Calls.Answered(1, time.Since(began))
	return answer, nil
}

func (s *Service) inspect(ctx context.Context, r *firnv1.InspectRequest) ([]supply.Reading, error) {
	if err := bearerOf(ctx).MayRead(); err != nil {
		return nil, err
	}
	if r.GetName() == "" {
		return s.Set.Read(r.GetText(), time.Now())
	}
	g, err := s.Set.Find(r.GetName())
	if err != nil {
		return nil, err
	}
	v, err := g.Read(r.GetText())
	return []supply.Reading{v}, err
}

func candidate(v supply.Reading) *firnv1.Candidate {
	c := &firnv1.Candidate{Format: v.Format.Name(), Text: v.ID, Hex: v.Hex, UnixMs: v.Time.UnixMilli(), Generators: v.Generators}
	if t := timestamppb.New(v.Time); t.IsValid() {
		c.Time = t
	}
	if n, err := strconv.ParseUint(v.Int, 10, 64); err == nil {
		c.Integer = &n
	}
	for _, f := range v.Fields {
		c.Fields = append(c.Fields, &firnv1.Field{Name: f.Name, Bits: uint32(f.Bits), Value: f.Value})
	}
	return c
}

// List implements the method of the service.
func (s *Service) List(ctx context.Context, _ *firnv1.ListRequest) (*firnv1.ListResponse, error) {
	began := time.Now()
	if err := bearerOf(ctx).MayRead(); err != nil {
		return nil, err
	}
	answer := &firnv1.ListResponse{}
	for _, g := range s.Set.All() {
		answer.Generators = append(answer.Generators, generator(g))
	}
	s.Calls.Answered(1, time.Since(began))
	return answer, nil
}

// states are the states of a worker, the best first.
var states = []struct {
	of    supply.State
	state firnv1.State
}{
	{supply.Ready, firnv1.State_STATE_READY},
	{supply.Idle, firnv1.State_STATE_IDLE},
	{supply.Starting, firnv1.State_STATE_STARTING},
	{supply.Lost, firnv1.State_STATE_LOST},
	{supply.Ended, firnv1.State_STATE_ENDED},
}

func generator(g *supply.Source) *firnv1.Generator {
	workers := g.Workers()
	answer := &firnv1.Generator{Name: g.Name, Format: g.Format.Name(), Width: uint32(g.Size), Epoch: timestamppb.New(g.Shape.Start()),
		Tick: durationpb.New(g.Shape.Unit), Workers: uint32(len(workers)), PerSecond: g.PerSecond()}
	best := len(states)
	for _, w := range workers {
		if w.State == supply.Ready {
			answer.Ready++
		}
		for rank, s := range states {
			if s.of == w.State && rank < best {
				best, answer.State, answer.Problem = rank, s.state, ""
				if w.Err != nil && s.of != supply.Ready {
					answer.Problem = strings.ToValidUTF8(w.Err.Error(), "\uFFFD")
				}
			}
		}
	}
	return answer
}
