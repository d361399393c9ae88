package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// Every subject does what is measured of it.
func TestSubjects(t *testing.T) {
	seen := map[string]bool{}
	for i := range subjects {
		s := &subjects[i]
		t.Run(s.name, func(t *testing.T) {
			if seen[s.name] || s.name == "" || s.title == "" || strings.ContainsAny(s.name, "/= ") {
				t.Error("its name is not its own, or none")
			}
			seen[s.name] = true
			if kin, err := find(s.kin); !s.firn() && (err != nil || !kin.firn()) {
				t.Errorf("its kin %q is none of Firn's", s.kin)
			}
			if burst, tick := s.pace(); s.cap.ids > 0 && float64(burst) >= s.cap.perSecond()*tick.Seconds() {
				t.Errorf("a burst of %d in %v reaches the cap", burst, tick)
			}
			for _, generator := range []func() (loop, error){s.next, s.batch, s.seq} {
				if generator == nil {
					continue
				}
				made, err := generator()
				if err != nil {
					t.Fatal(err)
				}
				if err := made(batchIDs + 1); err != nil {
					t.Error(err)
				}
			}
			if s.ticks != nil {
				made, err := s.ticks()
				if err != nil {
					t.Fatal(err)
				}
				began := tickOf(time.Now(), s.cap.tick)
				if err := made(3); err != nil || tickOf(time.Now(), s.cap.tick) < began+3 {
					t.Errorf("it did not wait for 3 ticks, or %v", err)
				}
			}
			if s.codec != nil {
				testCodec(t, s)
			}
			if s.sort != nil {
				sorter, err := s.sort(1000)
				if err != nil {
					t.Fatal(err)
				}
				for range 2 {
					sorter.shuffle()
					if sorter.sorted() {
						t.Error("in order before they are sorted")
					}
					sorter.sort()
					if !sorter.sorted() {
						t.Error("not in order after they were sorted")
					}
				}
			}
		})
	}
}

func testCodec(t *testing.T, s *subject) {
	c, err := s.codec()
	if err != nil {
		t.Fatal(err)
	}
	last := c.texts[len(c.texts)-1]
	distinct := slices.Compact(slices.Sorted(slices.Values(c.texts)))
	if len(c.texts) != codecIDs || len(distinct) != codecIDs {
		t.Errorf("%d texts, of them %d different, want %d", len(c.texts), len(distinct), codecIDs)
	}
	if got := c.str(); got != last {
		t.Errorf("String gives %q, want %q", got, last)
	}
	if c.encode != nil && string(c.encode()) != last {
		t.Errorf("into a buffer it writes %q, want %q", c.encode(), last)
	}
	if c.decode == nil {
		return
	}
	if err := c.decode(); err != nil {
		t.Error(err)
	}
	c.texts[7] = c.texts[7][1:] + "!"
	if err := c.decode(); (err == nil) != s.loose {
		t.Errorf("of %q its decoder says: %v", c.texts[7], err)
	}
}

// A generator whose IDs are dropped is called, not inlined: else an ID that nobody looks at
// would not be made in full. See loopOf.
func TestDroppedIDsAreMade(t *testing.T) {
	output, err := exec.Command("go", "build", "-gcflags=-m", "-o", t.TempDir(), ".").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	inlined := string(output)
	if !strings.Contains(inlined, "inlining call to fastuuid.(*Generator).Next") {
		t.Fatal("the compiler does not say what it inlines, or not as this test reads it")
	}
	for _, f := range []string{
		"sno.(*Generator).Next", "scru160.(*Generator).Next", "xid.New", "ulid.Make", "ksuid.NewRandom", "uuid.NewRandom", "uuid.makeV7",
		"uuid.(*Gen).NewV7",
	} {
		if strings.Contains(inlined, "inlining call to "+f+"\n") {
			t.Errorf("%s is inlined: its loop has to keep the IDs", f)
		}
	}
}
