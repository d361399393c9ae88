package facts

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/diagram"
	"github.com/firn-id/firn/cmd/firn/internal/formats"
	"github.com/firn-id/firn/internal/shape"
)

// explainFlags are the flags of firn explain.
type explainFlags struct {
	formats.Options
	making formats.MakingFlags
	json   bool
}

// Explain returns the command firn explain.
func Explain(s *cli.Streams) *cobra.Command {
	var f explainFlags
	cmd := &cobra.Command{
		Use:   "explain FORMAT",
		Short: "Show the layout, capacity and trade-offs of a format",
		Example: `  firn explain nanoflake
  firn explain snowflakesi --clock-bits 41 --machine-bits 2 --epoch 2026-01-01
  firn explain scru160 --node-bits 8 --json`,
		ValidArgsFunction: formats.CompleteFormat,
		Args:              formats.OneFormat,
		RunE: func(_ *cobra.Command, args []string) error {
			e, err := f.explanation(args[0])
			if err != nil {
				return err
			}
			if f.json {
				return cli.WriteJSON(s.Out, e)
			}
			e.show(s, time.Now())
			return nil
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.BoolVar(&f.json, "json", false, "write one JSON object")
	f.Options.AddTo(cmd)
	f.making.AddTo(cmd)
	return cmd
}

// An explanation is what firn explain says about a format.
type explanation struct {
	Format  string   `json:"format"`
	About   string   `json:"about,omitempty"`
	Bits    int      `json:"bits"`
	Bytes   int      `json:"bytes"`
	Fields  []field  `json:"fields"`
	Epoch   string   `json:"epoch"`
	End     string   `json:"end"` // after the last tick
	Tick    string   `json:"tick"`
	Worker  string   `json:"worker,omitempty"`
	Workers int      `json:"workers,omitempty"`
	PerTick room     `json:"ids_per_tick"`
	Second  int64    `json:"ids_per_second"` // of a worker, on average
	All     float64  `json:"ids_per_second_of_all_workers,omitempty"`
	Ordered bool     `json:"ordered"`
	Text    text     `json:"text"`
	Columns []column `json:"columns"`
	Suits   []string `json:"suits,omitempty"`
	Beware  []string `json:"beware,omitempty"`

	shape shape.Shape
	end   time.Time
}

// A field is some bits of an ID.
type field struct {
	Name   string `json:"name"`
	Bits   int    `json:"bits"`
	Shift  int    `json:"shift"`
	Random bool   `json:"random,omitempty"`
}

// A text is the canonical text.
type text struct {
	Least      int    `json:"least_length"`
	Most       int    `json:"most_length"`
	Characters string `json:"characters"`
	Sorts      bool   `json:"sorts"` // as the IDs do
}

// A column is the types of a column that holds the IDs, and the type of programs.
type column struct {
	Go       string `json:"go"`
	Postgres string `json:"postgres"`
	MySQL    string `json:"mysql"`
	SQLite   string `json:"sqlite,omitempty"`
}

// explanation returns the explanation of a format for the flags, or an error of usage.
func (f *explainFlags) explanation(name string) (*explanation, error) {
	format, err := formats.Named(name)
	if err != nil {
		return nil, err
	}
	r := formats.Recipe{Format: format}
	if r.Recipe, err = f.making.Recipe(&f.Options, format); err != nil {
		return nil, err
	}
	s, err := format.Descriptor().Of(r.Settings)
	if err != nil {
		return nil, err
	}
	return explain(format, s, r.Recipe), nil
}

// explain returns the explanation of a format's shape.
func explain(f formats.Format, s shape.Shape, r shape.Recipe) *explanation {
	d := f.Descriptor()
	about := facts[d.Name]
	e := &explanation{Format: d.Name, About: about.about, Bits: s.Bits(), Bytes: d.Size, Ordered: d.Ordered, Suits: about.suits, Beware: about.beware, shape: s, end: s.End()}
	e.Epoch, e.End = cli.TimeText(s.Start()), cli.TimeText(e.end)
	for _, f := range s.Fields {
		if f.Bits > 0 {
			e.Fields = append(e.Fields, field{f.Name, f.Bits, f.Shift, f.Random})
		}
	}
	tick := s.Unit
	if s.Micro > 0 {
		tick = time.Microsecond
	}
	e.Tick = tick.String()
	e.PerTick = room{s.Capacity(), s.Capacity(), s.Capacity()}
	if about.room != nil {
		e.PerTick = about.room(r, s)
	}
	e.Second = int64(e.PerTick.Mean) * int64(time.Second/tick)
	if s.Worker > 0 && s.Workers() > 1 {
		e.Worker, e.Workers = f.WorkerName(), s.Workers()
		e.All = float64(e.Second) * float64(e.Workers)
	}
	e.Text = text{d.Text.Least, d.Text.Most, d.Text.Digits, d.Text.Least == d.Text.Most}
	for _, c := range d.Columns {
		e.Columns = append(e.Columns, columnOf(d, c))
	}
	return e
}

// columnOf returns the types of a column that holds the IDs of a Go type.
func columnOf(d *shape.Format, c shape.Column) column {
	switch c.Type {
	case shape.Bigint:
		return column{c.GoType, "bigint", "BIGINT", "INTEGER"}
	case shape.Bytea:
		return column{c.GoType, "bytea", fmt.Sprintf("BINARY(%d)", d.Size), "BLOB"}
	case shape.UUID:
		return column{c.GoType, "uuid", "UUID (MariaDB)", ""}
	}
	return column{c.GoType, fmt.Sprintf(`char(%d) COLLATE "C"`, d.Text.Most), fmt.Sprintf("CHAR(%d) CHARACTER SET ascii", d.Text.Most), "TEXT"}
}

// chance returns how many generators make two equal IDs in a tick with probability one half, if random bits alone
// keep the generators apart: the random fields, or the random start of the sequence if there are none. ok is
// false if a worker keeps the generators apart.
func (e *explanation) chance() (generators float64, ok bool) {
	bits := 0
	for i, f := range e.shape.Fields {
		if f.Random && i != e.shape.Sequence {
			bits += f.Bits
		}
	}
	if f := e.shape.Fields[e.shape.Sequence]; bits == 0 && f.Random {
		bits = f.Bits
	}
	return math.Sqrt(2 * math.Ln2 * math.Exp2(float64(bits))), e.Workers == 0 && bits > 0
}

// show writes the explanation for people.
func (e *explanation) show(s *cli.Streams, now time.Time) {
	p := cli.NewPens(s.Colour)
	fmt.Fprintf(s.Out, "%s\n", p.Title.Sprint(e.Format))
	if e.About != "" {
		fmt.Fprintln(s.Out, strings.Join(lines(e.About, s.Width), "\n"))
	}
	fmt.Fprintln(s.Out)
	e.draw(s, p)
	fmt.Fprintln(s.Out)
	const names = 9 // columns
	row := func(name, text string) {
		for i, line := range lines(text, s.Width-names-2) {
			if i > 0 {
				name = ""
			}
			fmt.Fprintf(s.Out, "%s  %s\n", p.Faint.Sprintf("%-*s", names, name), line)
		}
	}
	row("time", fmt.Sprintf("from %s until %s, %s, in ticks of %s", e.Epoch, e.End, cli.Relative(e.end, now), e.Tick))
	if e.Workers > 0 {
		row("workers", fmt.Sprintf("%s: %s 0 to %d", humanize.Comma(int64(e.Workers)), e.Worker, e.Workers-1))
	} else {
		row("workers", "none")
	}
	if n, ok := e.chance(); ok {
		row("", fmt.Sprintf("%s generators make two equal IDs in a tick with probability 1/2", count(n)))
	}
	row("IDs", e.PerTick.String()+" a tick of a generator")
	row("", count(float64(e.Second))+" a second of a generator")
	if e.All > 0 {
		row("", count(e.All)+" a second of all workers")
	}
	order := "each ID of a generator is greater than the ID before"
	if !e.Ordered {
		order = "IDs of a generator ascend until its clock goes back"
	}
	row("order", order)
	row("text", e.Text.String())
	fmt.Fprintln(s.Out)
	e.table(s, p)
	for _, list := range []struct {
		title string
		lines []string
	}{{"Choose it", e.Suits}, {"Beware", e.Beware}} {
		if len(list.lines) > 0 {
			fmt.Fprintf(s.Out, "\n%s\n", p.Title.Sprint(list.title))
		}
		for _, text := range list.lines {
			fmt.Fprintf(s.Out, "  - %s\n", strings.Join(lines(text, s.Width-4), "\n    "))
		}
	}
}

// draw draws the layout. A letter stands for a bit: the first letter of its field.
func (e *explanation) draw(s *cli.Streams, p cli.Pens) {
	var bits strings.Builder
	bits.WriteString(strings.Repeat("0", 8*e.Bytes-e.Bits))
	var fields []diagram.Field
	for i, f := range e.shape.Fields {
		if f.Bits > 0 {
			bits.WriteString(strings.Repeat(f.Name[:1], f.Bits))
			fields = append(fields, diagram.Field{Name: f.Name, Bits: f.Bits, Text: e.meaning(i, f)})
		}
	}
	var drawing bytes.Buffer
	diagram.Write(&drawing, p, bits.String(), fields, s.Width)
	s.Out.Write(drawing.Bytes())
}

// meaning says what a field is, in a few words.
func (e *explanation) meaning(i int, f shape.Field) string {
	switch {
	case i == 0:
		return "since the epoch"
	case i == e.shape.Worker:
		return fmt.Sprintf("worker, 0 to %d", e.shape.Workers()-1)
	case i == e.shape.Micro:
		return "0 to 999"
	case i == e.shape.Meta:
		return "yours"
	case f.Random && i == e.shape.Sequence:
		return "begins at random"
	case f.Random:
		return "random"
	case i == e.shape.Sequence:
		return fmt.Sprintf("0 to %d", uint64(1)<<f.Bits-1)
	}
	return ""
}

// table writes the columns that hold the IDs: as a table if it fits, otherwise as a list.
func (e *explanation) table(s *cli.Streams, p cli.Pens) {
	fmt.Fprintln(s.Out, p.Title.Sprint("Columns"))
	titles := []string{"Go", "PostgreSQL", "MySQL, MariaDB", "SQLite"}
	var table, list bytes.Buffer
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "  %s\n", strings.Join(titles, "\t"))
	for _, c := range e.Columns {
		cells := []string{c.Go, c.Postgres, c.MySQL, c.SQLite}
		fmt.Fprintf(w, "  %s\n", strings.TrimRight(strings.Join(cells, "\t"), "\t"))
		fmt.Fprintf(&list, "  %s\n", c.Go)
		for i, cell := range cells[1:] {
			if cell != "" {
				fmt.Fprintf(&list, "    %-14s  %s\n", titles[i+1], cell)
			}
		}
	}
	w.Flush()
	for line := range strings.Lines(table.String()) {
		if len(line) > s.Width { // the end of the line counts, too
			s.Out.Write(list.Bytes())
			return
		}
	}
	s.Out.Write(table.Bytes())
}

// String says how many IDs there is room for.
func (r room) String() string {
	comma := func(n int) string { return humanize.Comma(int64(n)) }
	if r.Least == r.Most {
		return comma(r.Most)
	}
	return fmt.Sprintf("%s on average, %s to %s", comma(r.Mean), comma(r.Least), comma(r.Most))
}

// String describes the text.
func (t text) String() string {
	length := fmt.Sprint(t.Most)
	sorts := "; texts sort as the IDs do"
	if !t.Sorts {
		length, sorts = fmt.Sprintf("%d to %d", t.Least, t.Most), "; texts do not sort as the IDs do"
	}
	return length + " characters of " + t.Characters + sorts
}

// lines wraps a text at words.
func lines(text string, columns int) []string {
	return strings.Split(strings.TrimRight(cli.Paragraph(text, columns), "\n"), "\n")
}

// count writes a number: whole if it is small enough to read.
func count(n float64) string {
	const readable = 1e12
	if n < readable {
		return humanize.Comma(int64(n))
	}
	return fmt.Sprintf("%.1e", n)
}
