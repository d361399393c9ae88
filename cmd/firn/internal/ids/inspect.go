package ids

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/diagram"
	"github.com/firn-id/firn/cmd/firn/internal/formats"
	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/inspect"
	"github.com/firn-id/firn/internal/form/wrong"
)

// inspectFlags are the flags of firn inspect.
type inspectFlags struct {
	formats.Options
	as   formats.Form
	json bool
}

// Inspect returns the command firn inspect.
func Inspect(s *cli.Streams) *cobra.Command {
	var f inspectFlags
	cmd := &cobra.Command{
		Use:   "inspect [FORMAT] [ID]...",
		Short: "Take IDs apart",
		Long: `Take IDs apart: time, other fields, and bits.

IDs are the arguments. Without arguments, and for -, IDs are the lines of stdin. Blank
lines are skipped, and spaces around an ID are ignored. The first argument may be a
format. A misspelled format is wrong usage.

Without FORMAT, inspect detects the format. An ID that fits several formats is shown with
the time in each, the most plausible first; in JSON as {"id": …, "candidates": […]}. Name
the format in scripts.

Without --as, inspect tries text, then decimal, hex of the full width, and hex behind 0x.
An ID with the length and the alphabet of a text is read as a text or refused, even if it
is all digits: a decimal of that length needs --as int.

An invalid ID is an error, in JSON also {"input": …, "error": …}. The other IDs are still
answered, and the exit code is 1. In JSON, times after the year 9999 are null, since RFC
3339 ends there; unix_ms has them.

Formats: ` + cli.List(formats.Names(), "and") + `.`,
		Example: `  firn inspect 06E23B7CCL83QK5LQ04AF9K79M1CF0BR
  firn inspect nanoflake 0549x5l2itvr4 --json
  firn new snowflakesi --epoch 2020-01-01 -n 3 | firn inspect snowflakesi --epoch 2020-01-01
  firn inspect ulidflake --as hex 00f5f5af865cf82d
  firn inspect nanoflake --as base36 549x5l2itvr4`,
		DisableFlagsInUseLine: true,
		ValidArgsFunction:     formats.CompleteFormat,
		RunE: func(cmd *cobra.Command, args []string) error {
			i, args, err := f.inspector(args)
			if err != nil {
				return err
			}
			return i.inspect(s, args)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	f.as.AddTo(cmd, "read IDs as text, int, hex or base36", formats.ReadForms)
	flags.Lookup("as").DefValue = "" // without --as every form but base36 is tried
	flags.BoolVar(&f.json, "json", false, "write one JSON object per ID")
	f.Options.AddTo(cmd)
	return cmd
}

// inspector returns an inspector for the flags and the arguments, and the arguments that are IDs.
func (f *inspectFlags) inspector(args []string) (*inspector, []string, error) {
	i := &inspector{json: f.json, form: f.as.Form, detect: !f.as.Given, now: time.Now()}
	i.formats = inspect.Formats()
	if len(args) > 0 {
		format, ok := formats.Lookup(args[0])
		if near := formats.Misspelled(args[0]); !ok && near != "" {
			return nil, nil, cli.Usagef("unknown format %q: did you mean %s?", args[0], near)
		}
		if ok {
			if err := cmp.Or(f.Options.Refuse(format), f.as.Refuse(format)); err != nil {
				return nil, nil, err
			}
			i.formats, i.named, args = []inspect.Format{format.Format}, true, args[1:]
		}
	}
	var err error
	set, err := f.Settings()
	i.settings = inspect.Settings(set)
	return i, args, err
}

// An inspector takes IDs apart.
type inspector struct {
	formats  []inspect.Format // possible formats
	named    bool             // the user named the format
	form     inspect.Form
	detect   bool // detect the form
	settings inspect.Settings
	json     bool
	now      time.Time

	pens    cli.Pens
	width   int // columns of the terminal
	answers int
}

// inspect answers each argument. For "-", and without arguments, inspect answers the lines of
// stdin. The error is an invalid ID, or a failure of stdin or stdout.
func (i *inspector) inspect(s *cli.Streams, args []string) error {
	i.pens, i.width = cli.NewPens(s.Colour), s.Width
	ids := cli.Inputs{Streams: s, JSON: i.json, Answer: func(id string) (invalid, err error) { return i.one(s, id) }}
	return ids.Each(args)
}

// one answers an ID.
func (i *inspector) one(s *cli.Streams, id string) (invalid, err error) {
	var answer bytes.Buffer
	if i.answers > 0 && !i.json {
		answer.WriteByte('\n')
	}
	if err := i.answer(&answer, id); err != nil {
		return err, nil
	}
	i.answers++
	_, err = s.Out.Write(answer.Bytes())
	return nil, err
}

// answer writes the content of an ID. The error reports that the ID is invalid.
func (i *inspector) answer(w *bytes.Buffer, id string) error {
	fits, errs := i.read(id)
	switch {
	case len(fits) == 0 && i.named:
		return i.refused(id, errs[0])
	case len(fits) == 0:
		return i.noFormat(id, errs)
	case len(fits) > 1 && i.json:
		return writeCandidates(w, id, fits)
	case len(fits) > 1:
		i.showCandidates(w, id, fits)
		return nil
	case i.json:
		return writeObject(w, fits[0], '\n')
	}
	i.show(w, fits[0])
	return nil
}

// read returns the possible readings of an ID, the most plausible first, and the errors of the
// other formats.
func (i *inspector) read(id string) (fits []inspect.Info, errs []error) {
	var forms []inspect.Form // all
	if !i.detect {
		forms = append(forms, i.form)
	}
	if !i.named {
		if fits = inspect.Candidates(id, i.settings, i.now, forms...); len(fits) > 0 {
			return fits, nil
		}
	}
	for _, f := range i.formats {
		info, err := f.Inspect(id, i.form, i.settings)
		if i.detect {
			info, err = f.Read(id, i.settings)
		}
		if err == nil {
			fits = append(fits, info) // of the named format
		} else {
			errs = append(errs, err)
		}
	}
	return fits, errs
}

// refused returns the error for an ID that the named format has refused. The error of a decimal that
// has the shape of a text says how to read the decimal.
func (i *inspector) refused(id string, err error) error {
	if i.detect && errors.Is(err, iderr.ErrRange) {
		if _, bad := i.formats[0].Inspect(id, inspect.Int, i.settings); bad == nil {
			return fmt.Errorf("%w: if it is a decimal integer, add --as int", err)
		}
	}
	return err
}

// noFormat returns the error for an ID that no format has read. The error quotes the format that
// read the most.
func (i *inspector) noFormat(id string, errs []error) error {
	var best *iderr.ParseError
	for _, err := range errs {
		var e *iderr.ParseError
		if errors.As(err, &e) && (best == nil || progress(e) > progress(best)) {
			best = e
		}
	}
	switch {
	case id == "":
		return errors.New(`"": no ID: it is empty`)
	case i.form == inspect.Text && len(inspect.Candidates(id, i.settings, i.now, inspect.Base36)) > 0:
		return fmt.Errorf("%q: no format's ID: if it is a nanoflake whose leading zeros were left out, add --as base36", id)
	case best == nil || best.Err == iderr.ErrLength:
		return fmt.Errorf("%s: no format's ID: no format has IDs of length %d", strconv.Quote(wrong.Clip(id)), len(id))
	}
	return fmt.Errorf("no format's ID, nearest to %w", best)
}

// progress returns how many bytes of an ID were right.
func progress(e *iderr.ParseError) int {
	switch e.Err {
	case iderr.ErrLength:
		return -1
	case iderr.ErrCharacter:
		return e.Offset
	}
	return len(e.Input)
}

func writeObject(w *bytes.Buffer, info inspect.Info, end byte) error {
	object, err := info.MarshalJSON()
	w.Write(object)
	w.WriteByte(end)
	return err
}

// writeCandidates writes an ID of several formats as one line of JSON.
func writeCandidates(w *bytes.Buffer, id string, fits []inspect.Info) error {
	fmt.Fprintf(w, `{"id":%q,"candidates":[`, id) // a valid ID is plain ASCII
	for n, info := range fits {
		end := byte(',')
		if n == len(fits)-1 {
			end = ']'
		}
		if err := writeObject(w, info, end); err != nil {
			return err
		}
	}
	w.WriteString("}\n")
	return nil
}

// showCandidates shows an ID of several formats.
func (i *inspector) showCandidates(w *bytes.Buffer, id string, fits []inspect.Info) {
	fmt.Fprintf(w, "%s fits %d formats; name one to see its fields: firn inspect FORMAT ID\n\n", i.pens.Title.Sprint(id), len(fits))
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, info := range fits {
		fmt.Fprintf(table, "%s\t%s\t%s\n", info.Format.Name(), cli.TimeText(info.Time), cli.Relative(info.Time, i.now))
	}
	table.Flush()
}

// show shows an ID.
func (i *inspector) show(w *bytes.Buffer, info inspect.Info) {
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "%s  %s\n", i.pens.Faint.Sprintf("%-6s", name), value)
		}
	}
	row("format", i.pens.Title.Sprint(info.Format.Name()))
	row("id", i.pens.Title.Sprint(info.ID))
	when, ago := cli.TimeText(info.Time), cli.Relative(info.Time, i.now)
	if len("format  ")+len(when)+len("  ")+len(ago) > i.width {
		row("time", when)
		row("", ago)
	} else {
		row("time", when+"  "+ago)
	}
	row("int", info.Int)
	row("hex", info.Hex)
	w.WriteByte('\n')
	binary, _ := hex.DecodeString(info.Hex) // the hex of an ID
	var fields []diagram.Field
	for _, f := range info.Fields {
		fields = append(fields, diagram.Field{Name: f.Name, Bits: f.Bits, Text: f.Value})
	}
	diagram.Write(w, i.pens, diagram.Bits(binary), fields, i.width)
}
