package ids

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/foreign"
	"github.com/firn-id/firn/cmd/firn/internal/formats"
)

// keys are the members of an ID's object that are no fields.
var keys = []string{"format", "id", "int", "hex", "time", "unix_ms", "prefix"}

// The members that an ID's object has besides, of a pool and of lines where the ID may stand anywhere.
var (
	poolKeys = []string{"pool", "worker", "holder"}
	lineKeys = []string{"line"}
)

// keysOf returns the keys that the object of an ID has.
func keysOf(pool, match bool) []string {
	names := slices.Clone(keys)
	if pool {
		names = append(names, poolKeys...)
	}
	if match {
		names = append(names, lineKeys...)
	}
	return names
}

// checkOnly returns an error of usage unless IDs can have the field.
func (i *inspector) checkOnly(match bool) error {
	names := keysOf(i.pool != nil, match)
	first := len(names)
	for _, r := range i.readers {
		for _, f := range r.Shape().Fields {
			names = append(names, f.Name)
		}
	}
	if !i.named {
		for _, k := range foreign.All() {
			if i.kind != "" && k.Name != i.kind {
				continue
			}
			for _, f := range k.Fields {
				names = append(names, f.Name)
			}
			for _, p := range k.Parts {
				names = append(names, p.Name)
			}
		}
	}
	if slices.Contains(names, i.only) {
		return nil
	}
	if slices.Contains(poolKeys, i.only) {
		return cli.BadFlag("only", i.only, "is known of a pool's IDs: name the pool by --pool")
	}
	if slices.Contains(lineKeys, i.only) {
		return cli.BadFlag("only", i.only, "is known with --match")
	}
	if near := cli.Near(i.only, names); near != "" {
		return cli.BadFlag("only", i.only, "is not a field: did you mean "+near+"?")
	}
	if i.named {
		slices.Sort(names[first:])
		return cli.BadFlag("only", i.only, "is not "+cli.List(slices.Compact(names), "or"))
	}
	return cli.BadFlag("only", i.only, "is no member of an ID's JSON")
}

// completeOnly returns the keys and, behind a format, the format's fields.
func completeOnly(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	names := keysOf(cmd.Flags().Changed("pool"), cmd.Flags().Changed("match"))
	if len(args) > 0 {
		if f, ok := formats.Lookup(args[0]); ok {
			if !f.Descriptor().Integer() {
				names = slices.DeleteFunc(names, func(name string) bool { return name == "int" })
			}
			for _, field := range f.Descriptor().Default().Fields {
				names = append(names, field.Name)
			}
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// appendOnly appends the field of a reading that --only names. The error invalid is about an ID without the
// field. The error err ends the command.
func (i *inspector) appendOnly(dst []byte, r *reading) (b []byte, invalid, err error) {
	bin, fields := r.binary()
	switch {
	case i.only == "format":
		return append(dst, r.kind()...), nil, nil
	case i.only == "id":
		return append(dst, r.text()...), nil, nil
	case i.only == "prefix" && r.prefix != "":
		return append(dst, r.prefix...), nil, nil
	case i.only == "int" && r.integer():
		return strconv.AppendUint(dst, binary.BigEndian.Uint64(bin), 10), nil, nil
	case i.only == "hex" && bin != nil:
		return hex.AppendEncode(dst, bin), nil, nil
	case i.only == "unix_ms" && r.timed:
		return strconv.AppendInt(dst, r.time.UnixMilli(), 10), nil, nil
	case i.only == "time" && r.timed:
		if year := r.time.Year(); year < 0 || year > 9999 {
			return dst, fmt.Errorf("%s: no time in RFC 3339, which has the years 0 to 9999: use --only unix_ms", r.text()), nil
		}
		return r.time.AppendFormat(dst, time.RFC3339Nano), nil, nil
	case i.only == "line":
		return strconv.AppendInt(dst, i.line, 10), nil, nil
	case i.only == "pool":
		return append(dst, i.pool.Name()...), nil, nil
	case slices.Contains(poolKeys, i.only):
		return i.appendMaker(dst, r)
	}
	for _, f := range fields {
		if f.Name == i.only {
			return f.Append(dst, bin), nil, nil
		}
	}
	if r.reader == nil {
		for _, p := range r.foreign.Kind.Parts {
			if p.Name == i.only {
				return append(dst, r.foreign.Text[p.From:p.To]...), nil, nil
			}
		}
	}
	return dst, fmt.Errorf("%s: %s has no %s", r.text(), r.kind(), i.only), nil
}

// appendMaker appends the worker or the holder of an ID of the pool, as appendOnly does.
func (i *inspector) appendMaker(dst []byte, r *reading) (b []byte, invalid, err error) {
	m, err := i.pool.Of(i.ctx, r.id)
	switch {
	case err != nil:
		return dst, nil, err
	case i.only == "worker":
		return strconv.AppendInt(dst, int64(m.Worker), 10), nil, nil
	case m.Holder == nil:
		return dst, fmt.Errorf("%s: %s", r.text(), m), nil
	}
	return append(dst, m.Short()...), nil, nil
}

// chosen returns the reading of an input for an answer that has room for one. The error is for an input that can
// be of several kinds.
func (i *inspector) chosen(input string, readings []reading) (*reading, error) {
	if judge(readings) == ambiguous {
		all := kinds(readings)
		return nil, fmt.Errorf("%s fits %d %s: name the %s", cli.Plain(input), len(readings), all, strings.TrimSuffix(all, "s"))
	}
	return &readings[0], nil
}

// noteGuess tells the user of the first guess.
func (i *inspector) noteGuess(input string, readings []reading) {
	if i.guessed || judge(readings) != guess {
		return
	}
	i.guessed = true
	cli.Complain(i.streams.Err, fmt.Errorf("note: %s is taken for %s, a guess: name the format or the kind to be sure", cli.Plain(input), readings[0].kind()))
}

// weighOnly is weighTime for an answer with the time alone.
func (i *inspector) weighOnly(r *reading) {
	if i.only == "time" || i.only == "unix_ms" {
		i.weighTime(r)
	}
}
