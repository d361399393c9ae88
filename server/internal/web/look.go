package web

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/firn-id/firn/server/internal/reason"
	"github.com/firn-id/firn/server/internal/supply"
)

// A generatorObject is a generator in JSON.
type generatorObject struct {
	Name      string     `json:"name"`
	Format    string     `json:"format"`
	Epoch     time.Time  `json:"epoch"`
	End       *time.Time `json:"end"` // null after the year 9999
	Leased    bool       `json:"leased"`
	Store     string     `json:"store,omitempty"`
	PerSecond float64    `json:"per_second"` // the most IDs of a second, of all workers

	IDs        uint64  `json:"ids"`
	Waits      uint64  `json:"waits"`
	Exhausted  uint64  `json:"exhausted"`
	ClockSteps uint64  `json:"clock_steps"`
	Share      float64 `json:"share"` // of per_second, in the last second
	Worst      float64 `json:"worst"` // the largest share of a worker so far

	Ready   bool           `json:"ready"`
	Error   *errorObject   `json:"error,omitempty"` // why the generator is not ready
	Workers []workerObject `json:"workers"`
}

// A workerObject is a worker of a generator in JSON.
type workerObject struct {
	State    supply.State `json:"state"`
	Number   *int         `json:"number"` // null before the first worker, and without a lease
	Pool     string       `json:"pool,omitempty"`
	Until    *time.Time   `json:"until,omitempty"`
	Left     *int64       `json:"left_ms,omitempty"`
	Renewals uint64       `json:"renewals"`
	Failures uint64       `json:"failures"`
	Error    string       `json:"error,omitempty"`
}

func objectOf(g *supply.Source) generatorObject {
	o := generatorObject{
		Name: g.Name, Format: g.Format.Name(), Epoch: g.Shape.Start().UTC(), Leased: g.Recipe.Leased, PerSecond: g.PerSecond(),
	}
	if end := g.Shape.End().UTC(); end.Year() <= 9999 {
		o.End = &end
	}
	if g.Recipe.Leased {
		o.Store = g.Store
	}
	workers := g.Workers()
	for _, w := range workers {
		o.IDs += w.Usage.IDs
		o.Waits += w.Usage.Waits
		o.Exhausted += w.Usage.Exhausted
		o.ClockSteps += w.Usage.ClockSteps
		o.Share += w.Usage.Second / float64(len(workers))
		o.Worst = max(o.Worst, w.Usage.Worst)
		o.Workers = append(o.Workers, workerOf(w))
	}
	err := g.Serving()
	if o.Ready = err == nil; !o.Ready {
		o.Error = errorOf(reason.Of(err))
	}
	return o
}

func workerOf(w supply.Worker) workerObject {
	o := workerObject{State: w.State, Pool: w.Pool, Renewals: w.Lease.Renewals, Failures: w.Lease.Failures}
	if w.Number >= 0 {
		o.Number = &w.Number
	}
	if !w.Until.IsZero() {
		until, left := w.Until.UTC(), w.Left.Milliseconds()
		o.Until, o.Left = &until, &left
	}
	if w.Err != nil {
		o.Error = w.Err.Error()
	}
	return o
}

// generators answers with all generators.
func (s *server) generators(w http.ResponseWriter, r *http.Request) error {
	if _, err := readQuery(r.URL.RawQuery); err != nil {
		return err
	}
	all := []generatorObject{}
	for _, g := range s.Set.All() {
		all = append(all, objectOf(g))
	}
	return write(w, r, struct {
		Time       time.Time         `json:"time"`
		Generators []generatorObject `json:"generators"`
	}{time.Now().UTC(), all})
}

// generator answers with one generator.
func (s *server) generator(w http.ResponseWriter, r *http.Request) error {
	if _, err := readQuery(r.URL.RawQuery); err != nil {
		return err
	}
	g, err := s.Set.Find(r.PathValue("name"))
	if err != nil {
		return err
	}
	return write(w, r, objectOf(g))
}

// inspect answers with what a text can be.
func (s *server) inspect(w http.ResponseWriter, r *http.Request) error {
	values, err := readQuery(r.URL.RawQuery, "generator")
	if err != nil {
		return err
	}
	id := r.PathValue("id")
	var readings []supply.Reading
	if !values.Has("generator") {
		readings, err = s.Set.Read(id, time.Now())
	} else if g, unknown := s.Set.Find(values.Get("generator")); unknown != nil {
		err = unknown
	} else {
		readings = make([]supply.Reading, 1)
		readings[0], err = g.Read(id)
	}
	if err != nil {
		return err
	}
	objects := make([]readingObject, len(readings))
	for i, r := range readings {
		objects[i] = readingObject(r)
	}
	if len(objects) == 1 {
		return write(w, r, objects[0])
	}
	return write(w, r, struct {
		Input      string          `json:"input"`
		Candidates []readingObject `json:"candidates"`
	}{id, objects})
}

// A readingObject is a reading in JSON: the object of [inspect.Info], with the widths of the fields and the generators
// that make such IDs.
type readingObject supply.Reading

// MarshalJSON implements [json.Marshaler].
func (o readingObject) MarshalJSON() ([]byte, error) {
	b, err := o.Info.MarshalJSON()
	if err != nil {
		return nil, err
	}
	type field struct {
		Name string `json:"name"`
		Bits int    `json:"bits"`
	}
	layout := []field{}
	for _, f := range o.Fields {
		layout = append(layout, field{f.Name, f.Bits})
	}
	more, err := json.Marshal(struct {
		Layout     []field  `json:"layout"`
		Generators []string `json:"generators,omitempty"`
	}{layout, o.Generators})
	return append(append(b[:len(b)-1], ','), more[1:]...), err
}

// healthz answers while the process runs.
func (s *server) healthz(w http.ResponseWriter, _ *http.Request) error {
	head(w, asText)
	w.Write([]byte("ok\n"))
	return nil
}

// readyz answers 200 while each generator that has begun can make IDs. The path needs no token, so the answer has
// reasons, and not the errors of stores.
func (s *server) readyz(w http.ResponseWriter, r *http.Request) error {
	var first *reason.Error
	if s.Draining() {
		first = reason.Draining.New("the server is stopping")
	}
	for _, g := range s.Set.All() {
		if err := g.Serving(); err != nil {
			e := reason.Of(err)
			text := "generator " + g.Name + ": " + e.Of.Name + ": " + e.Of.Means
			if first == nil {
				first = &reason.Error{Of: e.Of, Text: text, Retry: e.Retry}
			} else {
				first.Text += "; " + text
			}
		}
	}
	if first == nil {
		return s.healthz(w, r)
	}
	answerError(w, r, first, http.StatusServiceUnavailable) // probes come every second, and are no refused requests
	return nil
}
