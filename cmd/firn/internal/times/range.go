package times

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/formats"
)

// rangeFlags are the flags of firn range.
type rangeFlags struct {
	source
	intervalFlags
	column      nameValue
	where, kind choice
	json        bool
}

// Range returns the command firn range.
func Range(s *cli.Streams) *cobra.Command {
	f := rangeFlags{intervalFlags: intervalFlags{now: time.Now}, column: "id"}
	f.where = choice{typ: "DATABASE", values: databaseNames()}
	f.kind = choice{typ: "KIND", values: kinds}
	cmd := &cobra.Command{
		Use:   "range FORMAT (--from TIME --to TIME | --last DURATION)",
		Short: "Find the IDs of a time range, and the SQL that selects them",
		Example: `  firn range nanoflake --last 15m
  firn range nanoflake --from 2026-07-01 --to 2026-08-01 --id order_id
  firn range scru160 --last 7d --where postgres --kind bytes`,
		ValidArgsFunction: formats.CompleteFormat,
		Args:              formats.OneFormat,
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := f.layout(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			i, err := f.interval(l)
			if err != nil {
				return err
			}
			return f.answer(s, i)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.Var(&f.from, "from", "start of the interval")
	flags.Var(&f.to, "to", "end of the interval, excluded")
	flags.Var(&f.last, "last", "the interval of this length until now")
	flags.Var(&f.column, "id", "name of the column, also after TABLE.")
	flags.Var(&f.where, "where", "print only the condition for postgres, mysql or sqlite")
	flags.Var(&f.kind, "kind", "only for columns of kind integer, text, bytes or uuid")
	flags.BoolVar(&f.json, "json", false, "write one JSON object")
	f.source.addTo(cmd)
	for name, values := range map[string][]string{"from": nil, "to": nil, "last": nil, "id": nil, "where": f.where.values, "kind": f.kind.values} {
		cli.Complete(cmd, name, values...)
	}
	return cmd
}

func databaseNames() (names []string) {
	for _, d := range databases {
		names = append(names, d.name)
	}
	return names
}

// answer writes what the flags ask for.
func (f *rangeFlags) answer(s *cli.Streams, i interval) error {
	k := cmp.Or(f.kind.value, i.usualKind())
	if !i.fits(k) {
		return cli.BadFlag("kind", k, i.Name()+" has no such form: want "+cli.List(i.kinds(), "or"))
	}
	if f.json && f.where.value != "" {
		return cli.Usagef("--where %s: cannot be used with --json, which has the conditions for all databases", f.where.value)
	}
	first, last, err := i.ends()
	switch {
	case err != nil:
		return err
	case f.where.value != "":
		return f.writeWhere(s.Out, i, k, first, last)
	case f.json:
		return f.writeJSON(s.Out, i, first, last)
	}
	f.show(s, i, first, last)
	return nil
}

// ends returns the first and the last ID of the interval.
func (i interval) ends() (first, last encodings, err error) {
	size := i.Descriptor().Size
	if first, err = i.encode(i.shape.First(size, i.first)); err != nil {
		return first, last, err
	}
	last, err = i.encode(i.shape.Last(size, i.last))
	return first, last, err
}

// writeWhere writes the condition for the database that the flag names.
func (f *rangeFlags) writeWhere(w io.Writer, i interval, k string, first, last encodings) error {
	d := databases[slices.IndexFunc(databases, func(d database) bool { return d.name == f.where.value })]
	c, ok := d.where(i.layout, k, string(f.column), first, last)
	if !ok {
		return cli.BadFlag("kind", k, d.title+" has no such columns")
	}
	_, err := fmt.Fprintln(w, c)
	return err
}

// ofKinds calls do with the condition for each kind of columns of the database that the flags do not leave out.
func (f *rangeFlags) ofKinds(i interval, d database, first, last encodings, do func(kind string, c condition)) {
	for _, k := range kinds {
		if c, ok := d.where(i.layout, k, string(f.column), first, last); ok && (f.kind.value == "" || f.kind.value == k) {
			do(k, c)
		}
	}
}

// writeJSON writes one object.
func (f *rangeFlags) writeJSON(w io.Writer, i interval, first, last encodings) error {
	type end struct {
		encodings
		Time      time.Time `json:"time"`
		UnixMilli int64     `json:"unix_ms"`
	}
	object := struct {
		Format string                       `json:"format"`
		From   time.Time                    `json:"from"`
		To     time.Time                    `json:"to"`
		First  end                          `json:"first"`
		Last   end                          `json:"last"`
		Where  map[string]map[string]string `json:"where"`
	}{i.Name(), i.from, i.to, end{encodings: first}, end{encodings: last}, map[string]map[string]string{}}
	for e, tick := range map[*end]int64{&object.First: i.first, &object.Last: i.last} {
		e.UnixMilli = i.shape.Epoch + tick*i.shape.Unit.Milliseconds()
		e.Time = time.UnixMilli(e.UnixMilli).UTC()
	}
	for _, d := range databases {
		object.Where[d.name] = map[string]string{}
		f.ofKinds(i, d, first, last, func(k string, c condition) { object.Where[d.name][k] = c.String() })
	}
	return cli.WriteJSON(w, object)
}

// widths names the fields and their bits.
func (l layout) widths() string {
	var fields []string
	for _, f := range l.shape.Fields {
		if f.Bits > 0 {
			fields = append(fields, fmt.Sprintf("%d %s", f.Bits, f.Name))
		}
	}
	return strings.Join(fields, ", ")
}

// show writes the interval for people. The first ID has a colour, and the last ID another. A line of SQL that is too wide becomes two, which can be copied, too.
func (f *rangeFlags) show(s *cli.Streams, i interval, first, last encodings) {
	p := cli.NewPens(s.Colour)
	row := func(name, value string) { fmt.Fprintf(s.Out, "%s  %s\n", p.Faint.Sprintf("%-6s", name), value) }
	const valueAt = 8 // the column of the values
	row("format", p.Title.Sprint(i.Name()))
	row("epoch", cli.TimeText(i.shape.Start()))
	row("bits", cli.Wrap(i.widths(), s.Limit()-valueAt, strings.Repeat(" ", valueAt)))
	row("from", cli.TimeText(i.from)+"  "+cli.Relative(i.from, f.now()))
	row("to", cli.TimeText(i.to)+"  excluded")
	for n, e := range []encodings{first, last} {
		title := []string{"first", "last"}[n]
		fmt.Fprintf(s.Out, "\n%s\n", p.Title.Sprint(title))
		for _, form := range [][2]string{{"text", e.Text}, {"int", e.Int}, {"hex", e.Hex}, {"uuid", e.UUID}} {
			if form[1] != "" {
				fmt.Fprintf(s.Out, "  %s  %s\n", p.Faint.Sprintf("%-4s", form[0]), p.Fields[n].Sprint(form[1]))
			}
		}
	}
	const kindWidth = 7 // of "integer"
	indent := strings.Repeat(" ", 2+kindWidth+2)
	for _, d := range databases {
		fmt.Fprintf(s.Out, "\n%s\n", p.Title.Sprint(d.title))
		f.ofKinds(i, d, first, last, func(k string, c condition) {
			fmt.Fprintf(s.Out, "  %s  %s\n", p.Faint.Sprintf("%-*s", kindWidth, k), strings.Join(c.lines(s.Width-len(indent), p.Fields[0], p.Fields[1]), "\n"+indent))
		})
	}
}
