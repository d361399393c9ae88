package ids

import (
	"bytes"
	"testing"
	"time"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/formats"
	"github.com/firn-id/firn/inspect"
)

// FuzzAnswer: whatever an ID is said to be, there is an answer or an error, each of
// which is text.
func FuzzAnswer(f *testing.F) {
	for _, s := range []string{"", "0", "07en9rb30swmf", "05TTUP1HNCPNA1QHTDHRTCU3V32PD7C6", "9007199254740991",
		"017bdf6431bb33750751eb63beb3c3f8c5969d86", "9223372036854775807", "7fffffffffffffff", "\x00", "\xff\xfe", "é"} {
		for form := range formats.ReadForms {
			f.Add(s, byte(form), true, form == 0, int64(0))
			f.Add(s, byte(form), false, form == 0, int64(253402300799999)) // the last epoch
		}
	}
	f.Fuzz(func(t *testing.T, s string, form byte, json, detect bool, epoch int64) {
		i := inspector{
			form: formats.ReadForms[int(form)%len(formats.ReadForms)], json: json, pens: cli.NewPens(false), width: 80, now: time.Now(), detect: detect,
			settings: inspect.Settings{Epoch: time.UnixMilli(epoch % 253402300799999)},
		}
		check := func() {
			var w bytes.Buffer
			err := i.answer(&w, s)
			if err != nil {
				cli.Complain(&w, err)
			}
			if w.Len() == 0 || bytes.ContainsFunc(w.Bytes(), func(r rune) bool { return r < ' ' && r != '\n' || r == 0x7f }) {
				t.Fatalf("%q: answer %q", s, w.Bytes())
			}
			if lines := bytes.Count(w.Bytes(), []byte("\n")); (json || err != nil) && lines != 1 {
				t.Fatalf("%q: %d lines: %q", s, lines, w.Bytes())
			}
		}
		i.formats = inspect.Formats()
		check()
		for _, format := range inspect.Formats() {
			i.formats, i.named = []inspect.Format{format}, true
			check()
		}
	})
}
