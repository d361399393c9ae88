package torture

import (
	"os"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/testing/testkit"
)

// A process finds the greatest last ID of a worker in the logs of other processes, and nothing in old logs.
func TestRival(t *testing.T) {
	s := &scene{ids: map[int][]id{
		1: {nano(t, 5, 900, 0)},
		2: {nano(t, 5, 500, 0), nano(t, 5, 600, 0)},
		3: {nano(t, 5, 700, 0), nano(t, 6, 800, 0)}, // has another worker now
		4: {nano(t, 5, 550, 0)},
		5: {},
		6: {nano(t, 5, 610, 0)},
		7: {nano(t, 7, 610, 0)},
	}, tails: map[int]string{2: "abc"}}
	dir := s.write(t)
	write(t, journalPath(dir, 1), nil)
	began := time.Now().Add(-time.Hour)
	testkit.OK(t, os.Chtimes(idsPath(dir, 6), began, began.Add(-time.Second)))
	c := &child{format: formats[0], orders: orders{Process: 1, Place: place{Dir: dir}}}
	for _, want := range []struct {
		worker, process int
		last            id
	}{{5, 2, nano(t, 5, 600, 0)}, {6, 3, nano(t, 6, 800, 0)}, {7, 7, nano(t, 7, 610, 0)}, {8, 0, id{}}} {
		if process, last := c.rival(want.worker, began); process != want.process || last != want.last {
			t.Errorf("worker %d: process %d with %x, want %+v", want.worker, process, last, want)
		}
	}
}
