package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/leased"
)

// A poolLayout is the flags of a pool's layout. The format comes besides.
type poolLayout struct {
	options
	nodeBits number
}

func (l *poolLayout) addTo(cmd *cobra.Command) {
	l.options.addTo(cmd)
	cmd.Flags().Var(&l.nodeBits, "node-bits", "bits of the node ID: 0 to 16 (scru160; default 0,\na pool of times alone)")
	complete(cmd, "node-bits")
}

// pool returns the pool of a format and the flags, under its default name.
func (l *poolLayout) pool(name string) (leased.Pool, error) {
	format, err := formatNamed(name)
	if err == nil {
		err = l.refuse(format)
	}
	switch {
	case err != nil || !l.nodeBits.set:
	case !format.nodes:
		err = usagef("--node-bits: %s has no node ID", format.name)
	case l.nodeBits.value < 0 || l.nodeBits.value > maxNodeBits:
		err = badFlag("node-bits", l.nodeBits.text, fmt.Sprintf("is not in 0 to %d", maxNodeBits))
	}
	if err != nil {
		return leased.Pool{}, err
	}
	set, err := l.settings()
	if err != nil {
		return leased.Pool{}, err
	}
	r := recipe{format: format.Format, nodeBits: l.nodeBits.value, set: set}
	if _, err := format.start(r); err != nil { // an epoch that no generator takes
		return leased.Pool{}, l.explain(err)
	}
	return format.pool(r), nil
}

// layoutOf returns the layout that a default name stands for, and the arguments of firn pool create
// for the pool. ok is false if the name is not a default one.
func layoutOf(pool string) (words []string, layout lease.Layout, ok bool) {
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
		var l poolLayout
		cmd := &cobra.Command{}
		l.addTo(cmd)
		if err := cmd.Flags().Parse(words); err != nil {
			continue
		}
		if p, err := l.pool(m.name); err == nil && p.Name == pool {
			return append([]string{m.name}, words...), p.Layout, true
		}
	}
	return nil, lease.Layout{}, false
}

// layoutsOf returns the layouts that a pool may have: for a default name its layout, for every other
// name the default layouts of all formats.
func layoutsOf(pool string) (layouts []lease.Layout) {
	if _, l, ok := layoutOf(pool); ok {
		return []lease.Layout{l}
	}
	for _, m := range makers {
		if p, err := (&poolLayout{options: options{flags: new(pflag.FlagSet)}}).pool(m.name); err == nil {
			layouts = append(layouts, p.Layout)
		}
	}
	return layouts
}

// alike reports whether two pools make the same IDs. Pools of firn torture do not count: nobody keeps
// their IDs.
func alike(a, b leased.Pool) bool {
	return a.Layout.Format == b.Layout.Format && a.Layout.Epoch.Equal(b.Layout.Epoch) && slices.Equal(a.Layout.Widths, b.Layout.Widths) &&
		!ofTorture(a.Name) && !ofTorture(b.Name)
}

// ofTorture reports whether firn torture made the pool, by its random name.
func ofTorture(pool string) bool {
	digits, ok := strings.CutPrefix(pool, "torture-")
	return ok && len(digits) == 16 && strings.Trim(digits, "0123456789abcdef") == ""
}
