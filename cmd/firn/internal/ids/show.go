package ids

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/fatih/color"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/diagram"
	"github.com/firn-id/firn/cmd/firn/internal/formats"
	"github.com/firn-id/firn/inspect"
	"github.com/firn-id/firn/internal/shape"
)

// show shows an input: in full if the first reading stands for the input, else as a table of all readings.
func (i *inspector) show(w *bytes.Buffer, input string, readings []reading) error {
	v := judge(readings)
	if v == ambiguous {
		fmt.Fprintf(w, "%s fits %d %s:\n\n", i.pens.Title.Sprint(cli.Printable(input)), len(readings), kinds(readings))
		i.writeReadings(w, readings)
		advice := "Name a format to see the fields: firn inspect FORMAT ID"
		if readings[0].rank >= doubtful {
			advice = "No time is plausible. If the ID has another epoch, add --epoch DATE or --pool NAME."
		}
		fmt.Fprintf(w, "\n%s\n", strings.Join(wrap(advice, i.width), "\n"))
		return nil
	}
	if err := i.block(w, readings, v); err != nil {
		return err
	}
	if len(readings) > 1 {
		fmt.Fprintf(w, "\n%s\n", i.pens.Faint.Sprint("also fits"))
		i.writeReadings(w, readings[1:])
	}
	return nil
}

// kinds names what the readings are of.
func kinds(readings []reading) string {
	for _, r := range readings {
		if r.reader == nil {
			return "kinds"
		}
	}
	return "formats"
}

// writeReadings writes a line for each reading.
func (i *inspector) writeReadings(w *bytes.Buffer, readings []reading) {
	var lines bytes.Buffer
	table := tabwriter.NewWriter(&lines, 0, 0, 2, ' ', 0)
	for n := range readings {
		r := readings[n]
		if r.timed {
			fmt.Fprintf(table, "%s\t%s\t%s\n", r.kind(), cli.TimeText(r.time), cli.Relative(r.time, i.now))
		} else {
			fmt.Fprintf(table, "%s\tno time\t\n", r.kind())
		}
	}
	table.Flush()
	for line := range bytes.Lines(lines.Bytes()) { // an empty last column leaves trailing blanks
		w.Write(append(bytes.TrimRight(line, " \n"), '\n'))
	}
}

// block shows the first reading in full.
func (i *inspector) block(w *bytes.Buffer, readings []reading, v verdict) error {
	r := &readings[0]
	b := block{Buffer: w, pens: i.pens, width: i.width}
	reason := ""
	if v == guess {
		reason = reasonFor(readings)
	}
	b.title("format", r.kind(), reason)
	b.title("id", r.text())
	b.row("prefix", r.prefix)
	if r.timed {
		b.row("time", cli.TimeText(r.time), cli.Relative(r.time, i.now))
		b.row("local", r.time.Local().Format("Mon 2006-01-02 15:04:05.999999999 MST"))
	}
	bin, fields := r.binary()
	if r.integer() {
		b.row("int", strconv.FormatUint(binary.BigEndian.Uint64(bin), 10))
	}
	b.row("hex", hex.EncodeToString(bin))
	if r.reader != nil {
		i.assumed(&b, r)
	} else if r.foreign.Kind.Decimal() {
		b.row("epoch", cli.TimeText(r.foreign.Kind.Epoch))
	}
	if i.pool != nil {
		m, err := i.pool.Of(i.ctx, r.id)
		if err != nil {
			return err
		}
		b.row("pool", i.pool.Name())
		b.row("maker", m.String())
	}
	if i.doubtful(r) {
		b.row("note", "the time is not plausible: "+i.advice(r))
	}
	i.draw(&b, r, bin, fields)
	return nil
}

// draw draws the bits of a reading, or lists the parts of its text.
func (i *inspector) draw(b *block, r *reading, bin []byte, of []shape.Field) {
	if r.reader == nil && bin == nil && len(r.foreign.Kind.Parts) == 0 {
		return
	}
	b.WriteByte('\n')
	if bin == nil {
		for _, p := range r.foreign.Kind.Parts {
			fmt.Fprintf(b, "%-11s  %s\n", p.Name, r.foreign.Text[p.From:p.To])
		}
		return
	}
	var fields []diagram.Field
	for _, f := range of {
		fields = append(fields, diagram.Field{Name: f.Name, Bits: f.Bits, Text: string(f.Append(nil, bin))})
	}
	diagram.Write(b.Buffer, i.pens, diagram.Bits(bin), fields, i.width)
}

// reasonFor says why the first reading is a guess.
func reasonFor(readings []reading) string {
	first := readings[0]
	foreign := slices.ContainsFunc(readings, func(r reading) bool { return r.rank == plausibleForeign })
	switch {
	case len(readings) == 1:
		return "(a guess: any " + first.foreign.Kind.Weak + ")"
	case first.rank == marked:
		return "(a guess: the digits have a version and a variant)"
	case first.rank == timeless:
		return "(a guess: no time is plausible)"
	case first.rank == plausible && foreign:
		return "(a guess: the only plausible time of Firn's formats)"
	}
	return "(a guess: the only plausible time)"
}

// assumed says which epoch and which widths the time and the fields are read by.
func (i *inspector) assumed(b *block, r *reading) {
	f, s := formats.Format{Format: r.reader.Format()}, r.reader.Shape()
	source := "the default of " + f.Name()
	switch {
	case i.pool != nil:
		source = "of the pool"
	case !f.Has("epoch"):
		source = "fixed"
	case i.epochGiven:
		source = "by --epoch"
	}
	b.row("epoch", cli.TimeText(s.Start()), source)
	var widths []string
	for _, field := range s.Fields {
		widths = append(widths, strconv.Itoa(field.Bits))
	}
	b.row("layout", strings.Join(widths, " + ")+" bits")
}

// doubtful reports whether an ID of a format has a time that is not plausible.
func (i *inspector) doubtful(r *reading) bool {
	return r.reader != nil && !inspect.Plausible(r.time, i.now)
}

// advice says what to do about a time that is not plausible.
func (i *inspector) advice(r *reading) string {
	switch {
	case i.pool != nil:
		return "is this an ID of the pool?"
	case (formats.Format{Format: r.reader.Format()}).Has("epoch"):
		return "if the ID has another epoch, add --epoch DATE or --pool NAME"
	}
	return "is this an ID of " + r.kind() + "?"
}

// doubts are what is known of times that are not plausible, of IDs without room for advice.
type doubts struct {
	ids, all int64
	advice   string // for the first one
}

// weighTime counts an ID of an answer without room for advice.
func (i *inspector) weighTime(r *reading) {
	i.doubts.all++
	if i.doubtful(r) {
		if i.doubts.ids++; i.doubts.ids == 1 {
			i.doubts.advice = i.advice(r)
		}
	}
}

// noteTimes tells the user of times that are not plausible.
func (i *inspector) noteTimes() {
	if i.doubts.ids > 0 {
		are := "are"
		if i.doubts.ids == 1 {
			are = "is"
		}
		cli.Complain(i.streams.Err, fmt.Errorf("note: %d of %d times %s not plausible: %s", i.doubts.ids, i.doubts.all, are, i.doubts.advice))
	}
}

// binary returns the binary form of a reading, and the fields.
func (r *reading) binary() ([]byte, []shape.Field) {
	if r.reader == nil {
		return r.foreign.Binary, r.foreign.Kind.Fields
	}
	return r.id, r.reader.Shape().Fields
}

// integer reports whether the ID is an integer of 64 bits.
func (r *reading) integer() bool {
	if r.reader == nil {
		return r.foreign.Kind.Decimal()
	}
	return r.reader.Format().Descriptor().Integer()
}

// A block is the rows of an ID.
type block struct {
	*bytes.Buffer
	pens  cli.Pens
	width int
}

// row writes a row with a name and values. Values that do not fit the line have lines of their own. Without a
// value, row writes nothing.
func (b *block) row(name string, values ...string) { b.write(name, nil, values) }

// title is row for a first value in the pen of titles.
func (b *block) title(name string, values ...string) { b.write(name, b.pens.Title, values) }

func (b *block) write(name string, first *color.Color, values []string) {
	if values[0] == "" {
		return
	}
	const indent, gap = 8, 2
	column := 0
	for n, value := range values {
		for m, line := range wrap(value, b.width-indent) {
			columns := utf8.RuneCountInString(line)
			if n == 0 && first != nil {
				line = first.Sprint(line)
			}
			switch {
			case n == 0 && m == 0:
				b.WriteString(b.pens.Faint.Sprintf("%-6s", name) + "  ")
				column = indent
			case columns == 0:
				continue
			case m == 0 && column+gap+columns <= b.width:
				b.WriteString("  ")
				column += gap
			default:
				b.WriteString("\n" + strings.Repeat(" ", indent))
				column = indent
			}
			b.WriteString(line)
			column += columns
		}
	}
	b.WriteByte('\n')
}

// wrap splits a text at blanks into lines of up to so many columns. Longer words have longer lines.
func wrap(text string, columns int) []string {
	return strings.Split(cli.Wrap(text, columns, ""), "\n")
}
