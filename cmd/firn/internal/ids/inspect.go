package ids

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/foreign"
	"github.com/firn-id/firn/cmd/firn/internal/formats"
	"github.com/firn-id/firn/cmd/firn/internal/intake"
	"github.com/firn-id/firn/cmd/firn/internal/makers"
	"github.com/firn-id/firn/inspect"
	"github.com/firn-id/firn/internal/form/object"
	"github.com/firn-id/firn/internal/shape"
)

// inspectFlags are the flags of firn inspect.
type inspectFlags struct {
	makers.Source
	as     formats.Form
	json   bool
	only   string
	column string
	match  bool
}

// Inspect returns the command firn inspect.
func Inspect(s *cli.Streams) *cobra.Command {
	var f inspectFlags
	cmd := &cobra.Command{
		Use:   "inspect [FORMAT] [ID]...",
		Short: "Show the format, time and fields of IDs",
		Example: `  firn inspect 06E23B7CCL83QK5LQ04AF9K79M1CF0BR
  firn inspect nanoflake 0549x5l2itvr4 --json
  firn new nanoflake -n 3 | firn inspect nanoflake --only time`,
		ValidArgsFunction: completeKind,
		RunE: func(cmd *cobra.Command, args []string) error {
			i, args, err := f.inspector(cmd.Context(), s, args)
			if err != nil {
				return err
			}
			if i.pool != nil {
				defer i.pool.Close()
			}
			return f.run(i, args)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	f.as.AddTo(cmd, "read IDs as text, int, hex or base36", formats.ReadForms)
	flags.Lookup("as").DefValue = "" // without --as every form but base36 is tried
	flags.BoolVar(&f.json, "json", false, "write one JSON object per ID")
	flags.StringVar(&f.only, "only", "", "write this `FIELD` only, such as time or sequence")
	flags.StringVar(&f.column, "column", "", "add the times of the IDs in column `NAME` of CSV")
	flags.BoolVar(&f.match, "match", false, "find IDs of FORMAT anywhere in lines")
	f.Source.AddTo(cmd, "read the settings from a pool, and name the maker")
	if err := cmd.RegisterFlagCompletionFunc("only", completeOnly); err != nil {
		panic(err) // no such flag, or twice
	}
	cli.Complete(cmd, "column")
	return cmd
}

// completeKind completes the formats and, where those do not fit, the foreign kinds.
func completeKind(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	names, directive := formats.CompleteFormat(cmd, args, toComplete)
	for _, k := range foreign.All() {
		if toComplete != "" && len(args) == 0 && strings.HasPrefix(k.Name, strings.ToLower(toComplete)) && !slices.Contains(names, k.Name) {
			names = append(names, k.Name)
		}
	}
	return names, directive
}

// inspector returns an inspector for the flags and the arguments, and the arguments that are IDs.
func (f *inspectFlags) inspector(ctx context.Context, s *cli.Streams, args []string) (*inspector, []string, error) {
	i := &inspector{streams: s, ctx: ctx, json: f.json, only: f.only, pens: cli.NewPens(s.Colour), width: s.Width, limit: s.Limit(),
		scanner: scanner{form: f.as.Form, detect: !f.as.Given, now: time.Now()}}
	var named formats.Format
	if len(args) > 0 {
		format, ok := formats.Lookup(args[0])
		switch near := cli.Misspelt(args[0], formats.Names()); {
		case ok:
			if err := cmp.Or(f.Options.Refuse(format), f.as.Refuse(format)); err != nil {
				return nil, nil, err
			}
			named, i.named, args = format, true, args[1:]
		case foreign.Named(args[0]):
			if err := f.refuse(args[0]); err != nil {
				return nil, nil, err
			}
			i.kind, args = strings.ToLower(args[0]), args[1:]
		case near != "":
			return nil, nil, cli.Usagef("unknown format %q: did you mean %s?", args[0], near)
		}
	}
	if err := f.check(i.named, args); err != nil {
		return nil, nil, err
	}
	set, err := f.Settings()
	if err != nil {
		return nil, nil, err
	}
	i.epochGiven = !set.Epoch.IsZero()
	if f.Name != "" {
		if named, set, err = f.open(i, named); err != nil {
			return nil, nil, err
		}
	}
	var all []inspect.Format
	switch {
	case i.named:
		all = []inspect.Format{named.Format}
	case i.kind == "":
		all = inspect.Formats()
	}
	i.settings = set
	for _, format := range all {
		r, err := format.NewReader(inspect.Settings(set))
		if err != nil {
			return nil, nil, f.Explain(err)
		}
		i.readers = append(i.readers, r)
	}
	if i.only != "" {
		if err := i.checkOnly(f.match); err != nil {
			return nil, nil, err
		}
	}
	return i, args, nil
}

// refuse returns an error of usage if a flag is not for IDs of a foreign kind.
func (f *inspectFlags) refuse(kind string) (err error) {
	own := []string{"as", "json", "only", "column", "color"}
	f.Flags.Visit(func(flag *pflag.Flag) {
		if !slices.Contains(own, flag.Name) {
			err = cli.Usagef("--%s: is for IDs of Firn's formats, and %s is another kind", flag.Name, kind)
		}
	})
	return err
}

// check returns an error of usage for flags that do not go together.
func (f *inspectFlags) check(named bool, args []string) error {
	set := func(name string) bool { return f.Flags.Changed(name) }
	for _, pair := range [][2]string{{"only", "json"}, {"column", "json"}, {"column", "only"}, {"match", "column"}} {
		if set(pair[0]) && set(pair[1]) {
			return cli.Usagef("--%s: cannot be used with --%s: each is a form of the output", pair[0], pair[1])
		}
	}
	switch {
	case set("column") && len(args) > 0 && args[0] != "-":
		return cli.Usagef("--column: cannot be used with the ID %s: CSV is read from stdin", cli.Plain(args[0]))
	case set("match") && !named && f.Name == "":
		return cli.Usagef("--match: name the format before the IDs: want %s", cli.List(formats.Names(), "or"))
	case set("match") && len(args) > 0 && args[0] != "-":
		return cli.Usagef("--match: cannot be used with the ID %s: lines are read from stdin", cli.Plain(args[0]))
	case f.Name == "" && (set("store") || set("state")):
		return cli.Usagef("--store and --state: name the pool, too, by --pool")
	}
	return nil
}

// open opens the pool, and returns the format and the settings of the pool's IDs.
func (f *inspectFlags) open(i *inspector, named formats.Format) (formats.Format, shape.Settings, error) {
	p, err := f.Open(i.ctx, named)
	if err != nil {
		return named, shape.Settings{}, err
	}
	if bad := f.as.Refuse(p.Format); bad != nil {
		p.Close()
		return named, shape.Settings{}, bad
	}
	i.pool, i.named = p, true
	return p.Format, p.Settings, nil
}

// run answers the IDs in the form that the flags ask for.
func (f *inspectFlags) run(i *inspector, args []string) error {
	switch {
	case f.column != "":
		return i.inspectColumn(f.column)
	case f.match:
		return i.inspectMatches(f.as)
	}
	return i.inspect(args)
}

// An inspector takes IDs apart.
type inspector struct {
	scanner
	streams    *cli.Streams
	ctx        context.Context // of the whole command
	pool       *makers.Pool    // or nil
	settings   shape.Settings
	epochGiven bool

	json    bool
	objects object.Writer // of JSON
	text    []byte        // of the ID in JSON
	only    string
	pens    cli.Pens
	width   int // columns of the terminal
	limit   int // columns of a table: a pipe has room for all

	line    int64 // of the ID, where IDs stand anywhere in lines; else 0
	held    held
	table   *table // of the second answer and the next ones
	lines   bool   // IDs are lines of stdin
	answers int
	guessed bool // the user knows that IDs are guesses
	doubts  doubts
	buffer  []byte
}

// held is the first ID of stdin: the only ID is shown in full, and several IDs are shown as a table.
type held struct {
	cells []string
	full  []byte
	is    bool
}

// inspect answers each argument. For "-", and without arguments, inspect answers the lines of
// stdin. The error is an invalid ID, or a failure of stdin or stdout.
func (i *inspector) inspect(args []string) error {
	i.lines = len(args) == 0 || len(args) == 1 && args[0] == "-"
	if f, ok := i.streams.In.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		i.lines = false // people type one ID after the other
	}
	ids := cli.Inputs{Streams: i.streams, JSON: i.json, Answer: i.answer}
	err := ids.Each(args)
	return cmp.Or(i.release(), i.end(), err)
}

// end writes the answers, and behind them the notes.
func (i *inspector) end() error {
	err := i.streams.Out.Flush()
	i.noteTimes()
	return err
}

// answer answers an ID.
func (i *inspector) answer(id string) (invalid, err error) {
	readings, invalid := i.read(id)
	if invalid != nil {
		return invalid, i.release() // the error comes after the answers before it
	}
	return i.answerReadings(id, readings)
}

// answerReadings answers an input by its readings. The errors are those of answer.
func (i *inspector) answerReadings(id string, readings []reading) (invalid, err error) {
	b := i.buffer[:0]
	switch {
	case i.json:
		b, err = i.appendJSON(b, id, readings)
	case i.only != "":
		r, invalid := i.chosen(id, readings)
		if invalid != nil {
			return invalid, nil
		}
		if b, invalid, err = i.appendOnly(b, r); invalid != nil || err != nil {
			return invalid, err
		}
		b = append(b, '\n')
		i.noteGuess(id, readings)
		i.weighOnly(r)
	default:
		return nil, i.answerText(id, readings)
	}
	i.buffer = b
	if err != nil {
		return nil, err
	}
	_, err = i.streams.Out.Write(b)
	return nil, err
}

// answerText answers an ID for people: in full, or by a line of the table if there are several lines.
func (i *inspector) answerText(id string, readings []reading) error {
	var full bytes.Buffer
	if i.answers > 0 {
		full.WriteByte('\n')
	}
	i.answers++
	if !i.lines || i.answers == 1 {
		if err := i.show(&full, id, readings); err != nil {
			return err
		}
	}
	if !i.lines {
		_, err := i.streams.Out.Write(full.Bytes())
		return err
	}
	cells, err := i.cells(id, readings)
	if err != nil {
		return err
	}
	i.weighTime(&readings[0])
	if i.answers == 1 {
		i.held = held{cells, full.Bytes(), true}
		return nil
	}
	return i.writeCells(cells)
}

// writeCells writes a line of the table, behind the titles and the line of the first ID.
func (i *inspector) writeCells(cells []string) error {
	if i.table == nil {
		lines := [][]string{i.heads(), cells}
		if i.held.is {
			lines = slices.Insert(lines, 1, i.held.cells)
		} else {
			i.streams.Out.WriteByte('\n') // behind an answer in full
		}
		i.held.is = false
		i.table = newTable(i.limit, lines...)
		fmt.Fprintln(i.streams.Out, i.pens.Faint.Sprint(i.table.line(lines[0])))
		for _, cells := range lines[1 : len(lines)-1] {
			fmt.Fprintln(i.streams.Out, i.table.line(cells))
		}
	}
	_, err := fmt.Fprintln(i.streams.Out, i.table.line(cells))
	return err
}

// release writes the answer to the only line of stdin.
func (i *inspector) release() error {
	if !i.held.is {
		return nil
	}
	i.held.is = false
	i.doubts = doubts{} // the answer in full has the advice
	_, err := i.streams.Out.Write(i.held.full)
	return err
}

// inspectMatches answers the IDs anywhere in the lines of stdin.
func (i *inspector) inspectMatches(as formats.Form) error {
	r := i.readers[0]
	source := intake.Source{Format: formats.Format{Format: r.Format()}, Settings: i.settings, Shape: *r.Shape(), Form: as.Form, Detect: !as.Given, Match: true}
	ids := source.Open(i.streams.Input())
	i.lines = true
	var refused error
	for {
		id, line, err := ids.Next()
		if err == io.EOF {
			return cmp.Or(i.release(), i.end(), refused)
		}
		if err != nil {
			return err
		}
		i.line = line
		invalid, err := i.answerReadings("", []reading{readingOf(r, id)})
		if err != nil {
			return err
		}
		if invalid != nil {
			refused = cli.ErrReported
			if err := i.streams.Out.Flush(); err != nil { // answers to earlier IDs come before the error
				return err
			}
			cli.Complain(i.streams.Err, fmt.Errorf("line %d: %w", line, invalid))
		}
	}
}
