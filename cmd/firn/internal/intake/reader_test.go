package intake

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/formats"
	"github.com/firn-id/firn/inspect"
	"github.com/firn-id/firn/internal/shape"
	"github.com/firn-id/firn/internal/testing/testkit"
)

// source returns the source of a format's texts, with default settings.
func source(tb testing.TB, f formats.Format) Source {
	s, err := f.Descriptor().Of(shape.Settings{})
	testkit.OK(tb, err)
	return Source{Format: f, Shape: s, Detect: true}
}

// made returns n IDs of a format in their binary form. Hex of decimal digits alone is a decimal, so the hex
// of each ID has a letter.
func made(tb testing.TB, f formats.Format, n int) [][]byte {
	g, err := f.Descriptor().New(shape.Recipe{})
	testkit.OK(tb, err)
	var ids [][]byte
	for len(ids) < n {
		id, err := g.AppendBinary(context.Background(), nil, 1)
		testkit.OK(tb, err)
		if strings.ContainsAny(hex.EncodeToString(id), "abcdef") {
			ids = append(ids, id)
		}
	}
	return ids
}

// written returns an ID in a form.
func written(tb testing.TB, f formats.Format, form inspect.Form, id []byte) string {
	info, err := f.InspectBinary(id, inspect.Settings{})
	testkit.OK(tb, err)
	switch form {
	case inspect.Int:
		return info.Int
	case inspect.Hex:
		return info.Hex
	case inspect.Base36:
		return strings.TrimLeft(info.ID, "0")
	case inspect.UUID:
		text, err := f.Descriptor().AppendUUID(nil, id)
		testkit.OK(tb, err)
		return string(text)
	}
	return info.ID
}

// readAll returns what a reader returns, a line for each answer.
func readAll(s Source, in io.Reader) []string { return answers(s.Open(in)) }

// answers returns what a reader returns, a line for each answer.
func answers(r *Reader) []string {
	var all []string
	for {
		id, line, err := r.Next()
		var bad *BadLine
		switch {
		case errors.As(err, &bad):
			all = append(all, fmt.Sprint(line, " bad"))
			if bad.Line != line {
				all = append(all, fmt.Sprint("the error is of line ", bad.Line))
			}
		case err != nil:
			return append(all, err.Error())
		default:
			all = append(all, fmt.Sprintf("%d %x", line, id))
		}
	}
}

// Every form of every format, detected and named, with blanks, quotes and ends of lines of all kinds.
func TestForms(t *testing.T) {
	for _, f := range formats.All() {
		ids := made(t, f, 3)
		for _, form := range f.Forms() {
			for _, detect := range []bool{true, false} {
				s := source(t, f)
				s.Form, s.Detect = form, detect
				if detect && form == inspect.Base36 {
					continue
				}
				var in strings.Builder
				in.WriteString("\ufeff")
				var want []string
				line := 0
				for _, id := range ids {
					text := written(t, f, form, id)
					lines := []string{text, text + "\r", " \t" + text + "  ", "", " "}
					if detect {
						lines = append(lines, `"`+text+`",`, "'"+text+"'", text+",")
					}
					for _, l := range lines {
						line++
						in.WriteString(l + "\n")
						if strings.TrimSpace(l) != "" {
							want = append(want, fmt.Sprintf("%d %x", line, id))
						}
					}
					line++
					in.WriteString("?\x00\n")
					want = append(want, fmt.Sprint(line, " bad"))
				}
				line++
				in.WriteString(written(t, f, form, ids[0])) // without an end
				want = append(want, fmt.Sprintf("%d %x", line, ids[0]), "EOF")
				for name, r := range map[string]io.Reader{"whole": strings.NewReader(in.String()), "bytes": iotest.OneByteReader(strings.NewReader(in.String()))} {
					if got := readAll(s, r); strings.Join(got, "\n") != strings.Join(want, "\n") {
						t.Errorf("%s, %s, detect %v, %s:\n%s\nwant\n%s", f.Name(), form, detect, name, strings.Join(got, "\n"), strings.Join(want, "\n"))
					}
				}
			}
		}
	}
}

// A Reader says how the last ID was written.
func TestWritten(t *testing.T) {
	for _, f := range formats.All() {
		for form, want := range map[inspect.Form]Written{inspect.Text: AsText, inspect.Int: AsInt, inspect.Hex: AsHex} {
			if !slices.Contains(f.Forms(), form) || form == inspect.Int && f.Descriptor().Text.Digits == "0123456789" {
				continue
			}
			text := written(t, f, form, made(t, f, 1)[0])
			inputs := []string{text, `"` + text + `",`}
			if form == inspect.Hex {
				inputs = append(inputs, "0x"+text, strings.ToUpper(text))
			}
			for _, in := range inputs {
				r := source(t, f).Open(strings.NewReader(in))
				if _, _, err := r.Next(); err != nil || r.Written() != want {
					t.Errorf("%s: %s is written as %d, want %d: %v", f.Name(), in, r.Written(), want, err)
				}
			}
		}
	}
}

// Lines of any length take constant memory, and only their numbers count.
func TestLongLines(t *testing.T) {
	f, _ := formats.Lookup("sno")
	id := made(t, f, 1)[0]
	text := written(t, f, inspect.Text, id)
	for _, n := range []int{cli.MaxLine - 1, cli.MaxLine, cli.MaxLine + 1, cli.MaxLine + 2, bufferSize - 1, bufferSize, bufferSize + 1, 10 * bufferSize} {
		for _, end := range []string{"\n", "\r\n"} {
			in := text + "\n" + strings.Repeat("x", n) + end + text + "\n" + strings.Repeat("y", n)
			want := fmt.Sprintf("1 %x\n2 bad\n3 %x\n4 bad\nEOF", id, id)
			if got := strings.Join(readAll(source(t, f), strings.NewReader(in)), "\n"); got != want {
				t.Errorf("%d:\n%s\nwant\n%s", n, got, want)
			}
		}
	}
	broken := errors.New("broken")
	got := readAll(source(t, f), io.MultiReader(strings.NewReader(text+"\n"+text[:5]), iotest.ErrReader(broken)))
	if want := fmt.Sprintf("1 %x\nbroken", id); strings.Join(got, "\n") != want {
		t.Errorf("a read fails: %v", got)
	}
}

// IDs anywhere in lines are those that a slow search finds.
func TestMatch(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, f := range formats.All() {
		s := source(t, f)
		s.Match = true
		ids := made(t, f, 200)
		var in strings.Builder
		var want []string
		line := 1
		for _, id := range ids {
			for range random.IntN(4) { // what is no ID
				in.WriteString([]string{"\n", "\r\n", "level=info ", "1234 ", "responsibilities ", "international ", "\x00", "2026-01-02T03:04:05Z ", strings.Repeat("a", 40+random.IntN(10)) + " ",
					strings.Repeat("0", bufferSize) + " ", "é "}[random.IntN(11)])
			}
			in.WriteString([]string{"", "id=", "order_", `{"id":"`, "/", "("}[random.IntN(6)])
			line = 1 + strings.Count(in.String(), "\n")
			in.WriteString(written(t, f, inspect.Text, id))
			in.WriteString([]string{" ", "\n", `"}`, ",", ".", "/x "}[random.IntN(6)])
			want = append(want, fmt.Sprintf("%d %x", line, id))
		}
		want = append(want, "EOF")
		for _, r := range []io.Reader{strings.NewReader(in.String()), iotest.HalfReader(strings.NewReader(in.String()))} {
			if got := readAll(s, r); strings.Join(got, "\n") != strings.Join(want, "\n") {
				for i := range want {
					if i >= len(got) || got[i] != want[i] {
						t.Errorf("%s: answer %d of %d is %v, want %s", f.Name(), i, len(got), got[i:min(i+3, len(got))], want[i])
						break
					}
				}
			}
		}
	}
}

// A word that would be an ID of an implausible time is none.
func TestMatchPlausible(t *testing.T) {
	f, _ := formats.Lookup("sno")
	s := source(t, f)
	s.Match = true
	for d, want := range map[time.Duration]bool{0: true, -19 * 8760 * time.Hour: false, 9000 * time.Hour: false, 24 * time.Hour: true, -8760 * time.Hour: true} {
		at := time.Now().Add(d)
		if d < -100000*time.Hour {
			at = time.UnixMilli(s.Shape.Epoch).AddDate(0, 0, 29)
		}
		g, err := f.Descriptor().New(shape.Recipe{Clock: func() time.Time { return at }})
		testkit.OK(t, err)
		text, err := g.AppendTexts(context.Background(), nil, 1)
		testkit.OK(t, err)
		if got := readAll(s, bytes.NewReader(text)); (len(got) == 2) != want {
			t.Errorf("an ID of %v is found: %v", at, got)
		}
	}
}

// After an epoch of the user's own, each ID is plausible from the first day.
func TestMatchOwnEpoch(t *testing.T) {
	for _, f := range formats.All() {
		set := shape.Settings{Epoch: time.Now().AddDate(0, 0, -1).UTC().Truncate(24 * time.Hour)}
		own, err := f.Descriptor().Of(set)
		if err != nil {
			continue // a format with one epoch
		}
		g, err := f.Descriptor().New(shape.Recipe{Settings: set})
		testkit.OK(t, err)
		text, err := g.AppendTexts(t.Context(), nil, 1)
		testkit.OK(t, err)
		s := source(t, f)
		s.Settings, s.Shape, s.Match = set, own, true
		if got := readAll(s, bytes.NewReader(text)); len(got) != 2 {
			t.Errorf("%s: %v", f.Name(), got)
		}
	}
}
