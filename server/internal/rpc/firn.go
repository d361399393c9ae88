package rpc

import (
	"bytes"
	"context"
	"math"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/firn-id/firn/server/firnv1"
	"github.com/firn-id/firn/server/internal/reason"
	"github.com/firn-id/firn/server/internal/supply"
)

// DefaultBatch is the most IDs of a batch, if the request does not say.
const DefaultBatch = 1024

// Take implements the method of the service.
func (s *Service) Take(ctx context.Context, r *firnv1.TakeRequest) (*firnv1.Batch, error) {
	began := time.Now()
	b, err := s.take(ctx, r)
	if err != nil {
		return nil, err
	}
	s.Calls.Answered(1, time.Since(began))
	return b, nil
}

func (s *Service) take(ctx context.Context, r *firnv1.TakeRequest) (*firnv1.Batch, error) {
	bearer, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	g, err := s.Set.Find(r.GetName())
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
	b := m.batch()
	if m.texts {
		b.Texts, err = m.makeTexts(ctx, n)
	} else {
		b.Packed, err = g.AppendBinary(ctx, make([]byte, 0, n*g.Size), n)
	}
	if err != nil {
		return nil, err
	}
	b.Count = uint32(n)
	return b, nil
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
	bearer, err := s.enter(ctx)
	if err != nil {
		return err
	}
	g, err := s.Set.Find(r.GetName())
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
	for left > 0 {
		if s.draining() {
			return reason.Draining.New("the server is stopping: connect again")
		}
		began := time.Now()
		n := int(min(uint64(most), left))
		if err := bearer.Take(g.Name, n); err != nil {
			return err
		}
		made, message, err := m.next(ctx, n)
		if made > 0 {
			s.Calls.Answered(1, time.Since(began))
			if err := stream.SendMsg(message); err != nil {
				return err
			}
			left -= uint64(made)
		}
		if err != nil && (made == 0 || reason.Of(err).Of != reason.Exhausted) {
			return err
		}
	}
	return nil
}

// A maker makes the batches of one stream.
type maker struct {
	of     *supply.Source
	texts  bool
	packed packed
	ids    []byte // texts, for the next batch
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

// batch returns a batch without IDs.
func (m *maker) batch() *firnv1.Batch {
	b := &firnv1.Batch{Format: m.of.Format.Name(), Width: uint32(m.of.Size)}
	if !m.texts {
		b.ByteOrder = firnv1.ByteOrder_BYTE_ORDER_BIG_ENDIAN
	}
	return b
}

// makeTexts returns n new IDs as texts. With an error, there are fewer.
func (m *maker) makeTexts(ctx context.Context, n int) ([]string, error) {
	var err error
	m.ids, err = m.of.AppendTexts(ctx, m.ids[:0], n, "", "\n")
	all := make([]string, 0, n)
	for line := range bytes.Lines(m.ids) {
		all = append(all, string(line[:len(line)-1]))
	}
	return all, err
}

// next returns a message with up to n new IDs. An error says why there are fewer.
func (m *maker) next(ctx context.Context, n int) (made int, message any, err error) {
	if m.texts {
		b := m.batch()
		b.Texts, err = m.makeTexts(ctx, n)
		b.Count = uint32(len(b.Texts))
		return len(b.Texts), b, err
	}
	size := m.of.Size
	buffer := pool.Get(n * size)
	ids, err := m.of.AppendBinary(ctx, (*buffer)[:0], n)
	*buffer = ids
	made = len(ids) / size
	if made == 0 {
		pool.Put(buffer)
		return 0, nil, err
	}
	if m.packed.GetCount() != uint32(made) { // the first batch, or another size
		b := m.batch()
		b.Count = uint32(made)
		var bad error
		if m.packed.head, bad = newHead(b, len(ids)); bad != nil {
			return 0, nil, bad
		}
		m.packed.Batch = b
	}
	m.packed.Packed, m.packed.ids = ids, mem.NewBuffer(buffer, &pool)
	return made, &m.packed, err
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
	if err := s.look(ctx); err != nil {
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

// look returns an error if the client of a call may not see generators and read IDs.
func (s *Service) look(ctx context.Context) error {
	bearer, err := s.enter(ctx)
	if err != nil {
		return err
	}
	return bearer.Look()
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
	if err := s.look(ctx); err != nil {
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
