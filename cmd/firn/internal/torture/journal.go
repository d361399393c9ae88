package torture

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/firn-id/firn/internal/faults"
)

// A process writes two files. Each entry is one write, so entries survive however the process ends.
//
//	0007.ids      the IDs, each before use
//	0007.journal  the entries, a line each

const idsSuffix = ".ids"

func idsPath(dir string, process int) string {
	return filepath.Join(dir, fmt.Sprintf("%04d", process)+idsSuffix)
}

func journalPath(dir string, process int) string {
	return filepath.Join(dir, fmt.Sprintf("%04d.journal", process))
}

// An entry is something that a process did or noticed. Times are Unix microseconds.
type entry struct {
	Event event `json:"event"`
	IDs   int64 `json:"ids"` // how many IDs the process had logged; seen, confirmed, unconfirmed: the number of the ID
	At    int64 `json:"at"`  // the real time

	// acquired, renewed, lost, expired, released, withdrawn: as in a lease's events.
	// sealed: no ID is made from Until on. If the generator is the Last of the process, leases that
	// are still renewed make no IDs either.
	Worker int   `json:"worker,omitempty"`
	From   int64 `json:"from,omitempty"`
	Until  int64 `json:"until,omitempty"`
	Last   bool  `json:"last,omitempty"`

	// stepped: the clock is Offset ahead of the real time, and was Before. seen: an ID was made
	// between the real times From and Until. refused: the library returned Error.
	Step   int   `json:"step,omitempty"`
	Offset int64 `json:"offset,omitempty"`
	Before int64 `json:"before,omitempty"`

	// confirmed: before the call of Confirm, the process Rival had logged RivalIDs IDs, the last of the
	// same worker. 0 means that no process is known to have made an ID of the worker meanwhile.
	Rival    int   `json:"rival,omitempty"`
	RivalIDs int64 `json:"rival_ids,omitempty"`

	Error string `json:"error,omitempty"`

	// dead: the process could not make an ID after the last fault, and has an excuse.
	Excused bool `json:"excused,omitempty"`

	// messages: the fate of messages since the last such entry.
	Messages *faults.Counts `json:"messages,omitempty"`
}

type event string

const (
	acquired  event = "acquired"
	renewed   event = "renewed"
	failing   event = "failing"
	expired   event = "expired"
	lost      event = "lost"
	withdrawn event = "withdrawn"
	waiting   event = "waiting"
	starting  event = "starting" // the store is away, and the process starts in the background
	alive     event = "alive"    // makes IDs after the last fault
	dead      event = "dead"     // makes no IDs after the last fault
	sealed    event = "sealed"
	released  event = "released"
	stepped   event = "stepped"
	seen      event = "seen"
	refused   event = "refused"
	messages  event = "messages"
	gaveUp    event = "gave up" // the library refused for long: the process ends

	confirmed   event = "confirmed"   // an ID that the process would answer with
	unconfirmed event = "unconfirmed" // an ID that it would throw away
)

// realNow returns the real time in Unix microseconds.
func realNow() int64 { return time.Now().UnixMicro() }

// A journal writes a file of entries.
type journal struct {
	mu   sync.Mutex
	file *os.File
}

func (j *journal) write(e entry) error {
	e.At = realNow()
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	_, err = j.file.Write(append(line, '\n'))
	return err
}

// errTorn is the error for a log without its end.
var errTorn = errors.New("it ends in the middle of a record")

// readJournal returns the entries of a journal. With errTorn, readJournal returns the entries
// before the missing end.
func readJournal(path string) ([]entry, error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil // the process ended before its first entry
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var entries []entry
	for r := bufio.NewReader(f); ; {
		line, err := r.ReadBytes('\n')
		switch {
		case err == io.EOF && len(line) > 0:
			return entries, errTorn
		case err == io.EOF:
			return entries, nil
		case err != nil:
			return entries, err
		}
		var e entry
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(&e); err != nil {
			return entries, fmt.Errorf("line %d: %w", len(entries)+1, err)
		}
		entries = append(entries, e)
	}
}
