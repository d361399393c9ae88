package formats

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/firn-id/firn/allot"
	"github.com/firn-id/firn/cmd/firn/internal/cli"
)

// A PoolLayout holds the flags for a pool's layout. The format comes separately.
type PoolLayout struct {
	Options
	nodeBits cli.Number
}

// AddTo adds the flags to cmd.
func (l *PoolLayout) AddTo(cmd *cobra.Command) {
	l.Options.AddTo(cmd)
	cmd.Flags().Var(&l.nodeBits, "node-bits", "bits of the node ID, 0 to 16 (scru160)")
	Only(cmd, func(f Format) bool { return f.nodes }, "node-bits")
	cli.Complete(cmd, "node-bits")
}

// Pool returns the pool of a format and the flags, under its default name.
func (l *PoolLayout) Pool(name string) (allot.Pool, error) {
	format, err := Named(name)
	if err == nil {
		err = l.Refuse(format)
	}
	switch {
	case err != nil || !l.nodeBits.Given:
	case !format.nodes:
		err = cli.Usagef("--node-bits: %s has no node ID", format.Name())
	case l.nodeBits.Value < 0 || l.nodeBits.Value > maxNodeBits:
		err = cli.BadFlag("node-bits", l.nodeBits.Text, fmt.Sprintf("is not in 0 to %d", maxNodeBits))
	}
	if err != nil {
		return allot.Pool{}, err
	}
	set, err := l.Settings()
	if err != nil {
		return allot.Pool{}, err
	}
	r := Recipe{Format: format.Format, nodeBits: l.nodeBits.Value, Set: set}
	p, err := format.Pool(r)
	return p, l.Explain(err) // an epoch that no generator takes
}

// LayoutOf returns the layout that a default name stands for, and the arguments of firn pool create
// for the pool. ok is false if the name is not a default one.
func LayoutOf(pool string) (words []string, layout allot.Layout, ok bool) {
	base, epoch, dated := strings.Cut(pool, "@")
	for _, m := range makers {
		var words []string
		var a, b int
		rest, ours := strings.CutPrefix(base, m.name)
		switch n, _ := fmt.Sscanf(rest, "-%d-%d", &a, &b); {
		case !ours:
			continue
		case n == 2 && m.layouts:
			words = []string{"--clock-bits", fmt.Sprint(a), "--machine-bits", fmt.Sprint(b)}
		case n == 2 && m.nodes:
			words = []string{"--node-bits", fmt.Sprint(b)}
		}
		if dated {
			words = append(words, "--epoch", epoch)
		}
		var l PoolLayout
		cmd := &cobra.Command{}
		l.AddTo(cmd)
		if err := cmd.Flags().Parse(words); err != nil {
			continue
		}
		if p, err := l.Pool(m.name); err == nil && p.Name == pool {
			return append([]string{m.name}, words...), p.Layout, true
		}
	}
	return nil, allot.Layout{}, false
}

// LayoutsOf returns the layouts that a pool may have: for a default name its layout, for every other
// name the default layouts of all formats.
func LayoutsOf(pool string) (layouts []allot.Layout) {
	if _, l, ok := LayoutOf(pool); ok {
		return []allot.Layout{l}
	}
	for _, m := range makers {
		if p, err := (&PoolLayout{Options: Options{Flags: new(pflag.FlagSet)}}).Pool(m.name); err == nil {
			layouts = append(layouts, p.Layout)
		}
	}
	return layouts
}

// Alike reports whether two pools make the same IDs. Pools of firn torture do not count: nobody keeps
// their IDs.
func Alike(a, b allot.Pool) bool {
	return a.Layout.Format == b.Layout.Format && a.Layout.Epoch.Equal(b.Layout.Epoch) && slices.Equal(a.Layout.Widths, b.Layout.Widths) &&
		!OfTorture(a.Name) && !OfTorture(b.Name)
}

// OfTorture reports whether a pool has a random name of firn torture.
func OfTorture(pool string) bool {
	digits, ok := strings.CutPrefix(pool, "torture-")
	return ok && len(digits) == 16 && strings.Trim(digits, "0123456789abcdef") == ""
}
