package lease

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// The history of a worker.
//
// Each write of a lease that holds a worker states, in the first entry of the history, the
// timestamps that are the lease's alone: from the start of its first interval to the end of its
// last. The next lease begins at the end or later, and adds an entry before. So the entries of
// different leases never overlap, and each timestamp has one name at most. A program of an earlier
// version keeps the history and adds nothing: the history then has no name for its timestamps.

// A holding is an entry in the history of a worker: the timestamps of a lease, and whose lease it
// was. Several short leases of one program on one host can share an entry.
type holding struct {
	Host    string `json:"host,omitempty"`
	Process int    `json:"pid,omitempty"`
	Program string `json:"program,omitempty"`
	Name    string `json:"name,omitempty"`   // Config.Holder, if the program has set it
	Count   int    `json:"leases,omitempty"` // how many leases share the entry; 0 for one
	Apart   bool   `json:"apart,omitempty"`  // timestamps before Since may be of leases that are not in the history
	Since   int64  `json:"since_us"`
	Until   int64  `json:"until_us"`
}

// The bounds of records of workers. Sizes are of bytes of JSON: an escaped character can take six.
const (
	maxRecord   = 2048 // of a record; the history goes first. A store takes driver.MaxValue
	maxHolder   = 200  // of Config.Holder
	maxHistory  = 1024 // of the history
	maxHolders  = 8    // entries
	maxShort    = 3    // entries of short leases, besides the first entry
	maxHost     = 64   // of a name of a host
	maxProgram  = 48   // of a name of a program
	maxName     = 64   // of Config.Holder in the history
	shortLease  = time.Minute
	cutName     = "…" // the end of a name that was shortened
	cutNameSize = len(cutName)
)

// thisProcess returns the entry of a lease of this process, without times.
func thisProcess(name string) holding {
	host, _ := os.Hostname()
	return holding{Host: fit(host, maxHost), Process: os.Getpid(), Program: fit(filepath.Base(os.Args[0]), maxProgram), Name: fit(name, maxName)}
}

// fit returns text that takes at most so many bytes in JSON, without the quotation marks.
func fit(s string, most int) string {
	s = strings.ToValidUTF8(s, string(utf8.RuneError))
	size, end := 0, 0 // end is where a shortened text ends
	for i, c := range s {
		if size+cutNameSize <= most {
			end = i
		}
		if size += len(encodeJSON(string(c))) - len(`""`); size > most {
			return s[:end] + cutName
		}
	}
	return s
}

// short reports whether the entry is of a short lease.
func (h *holding) short(limit time.Duration) bool { return h.Until-h.Since < limit.Microseconds() }

// fold returns the entry of both leases, if a short lease of the same program followed earlier
// within a short time. Nobody had timestamps between the two.
func (h holding) fold(earlier holding, limit time.Duration) (both holding, ok bool) {
	small := func(h holding) bool { return h.Count > 0 || h.short(limit) }
	cut := strings.HasSuffix(h.Host, cutName) || strings.HasSuffix(h.Program, cutName) // two names may be cut to the same
	if h.Apart || h.Host != earlier.Host || h.Program != earlier.Program || cut || !small(h) || !small(earlier) ||
		h.Since-earlier.Until >= limit.Microseconds() {
		return h, false
	}
	both = earlier
	both.Until, both.Count, both.Process = h.Until, max(h.Count, 1)+max(earlier.Count, 1), 0
	if h.Name != earlier.Name {
		both.Name = ""
	}
	return both, true
}

// present reports whether the first entry of the history is of the lease that holds the worker.
func (r *record) present() bool {
	return r.Incarnation != "" && len(r.Holders) > 0 && r.Holders[0].Until == r.Until
}

// tenure returns since when the present lease has held the worker without a break.
func (r *record) tenure() time.Time {
	if r.present() {
		return time.UnixMicro(r.Holders[0].Since).UTC()
	}
	return time.UnixMicro(r.From).UTC() // an earlier version wrote the record, or the record has no room
}

// note writes the interval of r into the history. The lease of r has taken the worker, or has renewed: last is
// the record before.
func (r *record) note(last *record, me holding, limit time.Duration) {
	if last.present() && last.Incarnation == r.Incarnation {
		r.Holders = slices.Clone(last.Holders)
		r.Holders[0].Since, r.Holders[0].Until = min(r.Holders[0].Since, r.From), r.Until
		r.bound(limit)
		return
	}
	me.Since, me.Until = r.From, r.Until
	before := last.Holders
	if len(before) > 0 {
		me.Apart = before[0].Until != last.Until
	}
	if len(before) > 1 {
		if both, ok := before[0].fold(before[1], limit); ok {
			before = append([]holding{both}, before[2:]...)
		}
	}
	r.Holders = append([]holding{me}, before...)
	r.bound(limit)
}

// noteEnd writes into the history that the lease of last gives the worker back, by writing r.
func (r *record) noteEnd(last *record) {
	if !last.present() {
		return
	}
	r.Holders = slices.Clone(last.Holders)
	if r.Holders[0].Until = r.Until; r.Holders[0].Until <= r.Holders[0].Since {
		r.Holders = r.Holders[1:]
	}
}

// ended returns the entries of leases that have ended.
func (r *record) ended() []holding {
	if r.present() {
		return r.Holders[1:]
	}
	return r.Holders
}

// bound drops entries, the oldest first, until the record keeps the bounds. Many short leases leave
// half of the entries to others.
func (r *record) bound(limit time.Duration) {
	var short []int
	for i, h := range r.Holders {
		if i > 0 && h.short(limit) {
			short = append(short, i)
		}
	}
	for ; len(short) > maxShort; short = short[:len(short)-1] {
		oldest := short[len(short)-1]
		r.Holders[oldest-1].Apart = true
		r.Holders = slices.Delete(r.Holders, oldest, oldest+1)
	}
	r.Holders = r.Holders[:min(len(r.Holders), maxHolders)]
	for len(r.Holders) > 0 && (len(encodeJSON(r.Holders)) > maxHistory || len(encode(r)) > maxRecord) {
		r.Holders = r.Holders[:len(r.Holders)-1]
	}
}

// A Holder is a lease that has held a worker, as the worker's record names it.
type Holder struct {
	Host    string // the name of the host
	Process int    // the number of the process; 0 if Count is not 1
	Program string // the name of the program
	Name    string // Config.Holder, if the program has set it

	// Count is how many leases the record knows only together: short leases of one program on one
	// host, close together. One of these leases was the holder.
	Count int

	// The lease had timestamps of the worker from Since on and before Until. No other lease has
	// timestamps there. A lease that holds the worker moves Until on, and may give back the unused
	// end.
	Since, Until time.Time
}

func (h *holding) holder() Holder {
	return Holder{Host: h.Host, Process: h.Process, Program: h.Program, Name: h.Name, Count: max(h.Count, 1),
		Since: time.UnixMicro(h.Since).UTC(), Until: time.UnixMicro(h.Until).UTC()}
}

// String describes the holder to operators, as in "firn (process 20963 on web-3)".
func (h Holder) String() string {
	host, program := h.Host, h.Program
	if host == "" {
		host = "an unknown host"
	}
	if program == "" {
		program = "an unknown program"
	}
	var text string
	if h.Count > 1 {
		text = fmt.Sprintf("one of %d short leases of %s on %s", h.Count, program, host)
	} else {
		text = fmt.Sprintf("%s (process %d on %s)", program, h.Process, host)
	}
	if h.Name != "" {
		text = h.Name + ": " + text
	}
	return text
}

// HolderAt returns the lease that held a worker at a time: the time in an ID, and the worker in it.
// If the record names nobody at this time, the error is an *[UnrecordedError].
//
// The answer names a lease only for timestamps that a record states to be this lease's, and is
// never wrong about an ID that a lease's generator has made. An ID of another origin may have any
// worker and any time: such as an ID made without a lease, or for a given time. Between the leases
// of a Holder with a Count, for less than a minute each, no lease had timestamps.
//
// The time is the start of the ID's tick. IDs of SCRU160 with a counter of microseconds have such a tick,
// and their method Time returns whole milliseconds: for these HolderAt names a lease only if the whole
// millisecond is the lease's.
//
// A record names the last eight holders or fewer. If the store has lost changes, HolderAt answers rightly
// only after [RecoverPool].
func (p *Pool) HolderAt(ctx context.Context, worker int, at time.Time) (Holder, error) {
	if worker < 0 || worker >= p.layout.Workers {
		return Holder{}, fmt.Errorf("%w: worker %d is not in 0 to %d", ErrConfig, worker, p.layout.Workers-1)
	}
	unrecorded := &UnrecordedError{Pool: p.name, Worker: worker, At: at}
	made, _, err := p.reread(ctx)
	if err != nil {
		return Holder{}, err
	}
	if !made.made(worker) {
		return Holder{}, unrecorded
	}
	r, err := p.get(ctx, worker)
	if err != nil {
		return Holder{}, err
	}
	h := r.holderAt(at.UnixMicro())
	if p.layout.Unit < time.Millisecond && at.UnixMicro()%1000 == 0 && h != r.holderAt(at.UnixMicro()+999) {
		h = nil
	}
	if h != nil {
		return h.holder(), nil
	}
	if n := len(r.Holders); n > 0 {
		unrecorded.Known = time.UnixMicro(r.Holders[n-1].Since).UTC()
	}
	return Holder{}, unrecorded
}

// holderAt returns the entry with a time, or nil.
func (r *record) holderAt(us int64) *holding {
	for i, h := range r.Holders {
		if h.Since <= us && us < h.Until {
			return &r.Holders[i]
		}
	}
	return nil
}
