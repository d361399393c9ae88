package torture

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/firn-id/firn/internal/faults"
)

// A process writes two files. Each entry is one write, so entries survive however the process ends.
//
//	0007.ids      the IDs in their binary form, each before use
//	0007.journal  the entries, a line each
//
// The run writes the faults to run.journal, for people.

const idsSuffix = ".ids"

func idsPath(dir string, process int) string {
	return filepath.Join(dir, fmt.Sprintf("%04d", process)+idsSuffix)
}

func journalPath(dir string, process int) string {
	return filepath.Join(dir, fmt.Sprintf("%04d.journal", process))
}

// An entry is something that a process did or noticed. Times are Unix microseconds.
type entry struct {
	Event string `json:"event"` // of a lease, as its EventKind says, or one of the events below
	IDs   int64  `json:"ids"`   // how many IDs the process had logged
	At    int64  `json:"at"`    // the real time

	// The fields of an event of a lease. sealed: no ID is made from Until on. If the generator is the
	// Last of the process, leases that are still renewed make no IDs either.
	Worker int    `json:"worker,omitempty"`
	From   int64  `json:"from,omitempty"`
	Until  int64  `json:"until,omitempty"`
	Last   bool   `json:"last,omitempty"`
	Error  string `json:"error,omitempty"` // dead, stale: what is wrong

	// Messages is the fate of the messages of the process until now.
	Messages *faults.Counts `json:"messages,omitempty"`

	// clock set: the clock is Offset ahead of the real time.
	Offset int64 `json:"offset,omitempty"`

	// What the run notes of a fault.
	Size     string `json:"size,omitempty"`
	Process  int    `json:"process,omitempty"`
	Happened bool   `json:"happened,omitempty"`
}

// Events that are not of a lease.
const (
	away    = "started away" // the process has started, and cannot reach its store
	sealed  = "sealed"
	stepped = "clock set"
	gaveUp  = "gave up" // the library refused for long: the process ends

	alive   = "alive"   // makes IDs after the last fault
	excused = "excused" // makes none, and has a reason
	dead    = "dead"    // makes none

	confirmed   = "confirmed"   // an ID that the process would answer with
	unconfirmed = "unconfirmed" // an ID that it would throw away
	stale       = "stale"       // an ID that was confirmed, and must not have been
)

// A journal writes a file of entries.
type journal struct {
	mu   sync.Mutex
	file *os.File
}

// create creates a file that is only appended to.
func create(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
}

func (j *journal) write(e entry) error {
	e.At = time.Now().UnixMicro()
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	_, err = j.file.Write(append(line, '\n'))
	return err
}

// readJournal returns the entries of a journal. The error is io.ErrUnexpectedEOF if the journal ends
// within an entry.
func readJournal(path string) (entries []entry, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // the process ended before its first entry
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	d := json.NewDecoder(f)
	d.DisallowUnknownFields()
	for {
		var e entry
		if err := d.Decode(&e); err == io.EOF {
			return entries, nil
		} else if err != nil {
			return entries, fmt.Errorf("entry %d: %w", len(entries)+1, err)
		}
		entries = append(entries, e)
	}
}
