package ids

import (
	"bufio"
	"bytes"
	"testing"
	"time"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/formats"
	"github.com/firn-id/firn/inspect"
	"github.com/firn-id/firn/internal/testing/testkit"
)

// newInspector returns an inspector of a format, or of all formats for the zero Format. The inspector writes to w.
func newInspector(tb testing.TB, w *bytes.Buffer, f inspect.Format, set inspect.Settings, now time.Time) *inspector {
	tb.Helper()
	i := &inspector{streams: &cli.Streams{Out: bufio.NewWriter(w), Err: w}, ctx: tb.Context(), pens: cli.NewPens(false), width: 80,
		epochGiven: !set.Epoch.IsZero(), scanner: scanner{detect: true, now: now}}
	all := []inspect.Format{f}
	if i.named = f.Name() != ""; !i.named {
		all = inspect.Formats()
	}
	for _, f := range all {
		i.readers = append(i.readers, testkit.Must(f.NewReader(set)))
	}
	return i
}

// FuzzAnswer: whatever an ID is said to be, there is an answer or an error, each of
// which is text.
func FuzzAnswer(f *testing.F) {
	for _, s := range []string{"", "0", "07en9rb30swmf", "05TTUP1HNCPNA1QHTDHRTCU3V32PD7C6", "9007199254740991",
		"017bdf6431bb33750751eb63beb3c3f8c5969d86", "9223372036854775807", "7fffffffffffffff", "\x00", "\xff\xfe", "é", `"07en9rb30swmf",`,
		"order_07en9rb30swmf", "018bcfe5-687c-7b23-b5f6-d1c5dba4bd1c", "018bcfe5687c7b23b5f6d1c5dba4bd1c", "01HF7YAT00TESTTESTTESTTEST", "user_01h455vb4pex5vsknk084sn02q",
		"2XNbV7gX3aGkqrLkW5mEnEnWCAA", "d7p4bcrms9v0ls5kv2j0", "6742ab1c9f1b2c3d4e5f6071", "-O8nmdYyf9pGy8x3YxYz", "cjld2cjxh0000qzrmn831i7rn",
		"tz4a98xxat96iws9zmbrgj3a", "V1StGXR8_Z5jdHi6B-myT", "00000000-0000-0000-0000-000000000000"} {
		for form := range formats.ReadForms {
			f.Add(s, byte(form), byte(0), form == 0, int64(0))
			f.Add(s, byte(form), byte(1), form == 0, int64(253402300799999)) // the last epoch
			f.Add(s, byte(form), byte(2), form == 0, int64(0))
		}
	}
	f.Fuzz(func(t *testing.T, s string, form, output byte, detect bool, epoch int64) {
		set := inspect.Settings{Epoch: time.UnixMilli(epoch % 253402300799999)}
		for _, format := range append(inspect.Formats(), inspect.Format{}) {
			var w bytes.Buffer
			i := newInspector(t, &w, format, set, time.Now())
			i.form, i.detect = formats.ReadForms[int(form)%len(formats.ReadForms)], detect
			i.json = output%3 == 1
			if output%3 == 2 {
				i.only = "unix_ms"
			}
			invalid, err := i.answer(s)
			if err != nil {
				t.Fatalf("%q: %v", s, err)
			}
			i.streams.Out.Flush()
			if invalid != nil {
				if w.Len() > 0 {
					t.Fatalf("%q: an answer and an error: %q, %v", s, w.Bytes(), invalid)
				}
				cli.Complain(&w, invalid)
			}
			if w.Len() == 0 || bytes.ContainsFunc(w.Bytes(), func(r rune) bool { return r < ' ' && r != '\n' || r == 0x7f }) {
				t.Fatalf("%q: answer %q", s, w.Bytes())
			}
			if lines := bytes.Count(w.Bytes(), []byte("\n")); (i.json || invalid != nil) && lines != 1 {
				t.Fatalf("%q: %d lines: %q", s, lines, w.Bytes())
			}
		}
	})
}
