package formats

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/firn-id/firn/internal/options"
	"github.com/firn-id/firn/internal/shape"
	"github.com/firn-id/firn/lease/grant"
)

// LayoutOf returns the layout that a default name stands for, and the arguments of firn pool create
// for the pool. ok is false if the name is not a default one.
func LayoutOf(pool string) (words []string, layout grant.Layout, ok bool) {
	base, epoch, dated := strings.Cut(pool, "@")
	for _, f := range All() {
		var words []string
		var a, b int
		rest, ours := strings.CutPrefix(base, f.Name())
		n, _ := fmt.Sscanf(rest, "-%d-%d", &a, &b)
		switch {
		case !ours:
			continue
		case n == 2 && f.Has("clock-bits"):
			words = []string{"--clock-bits", fmt.Sprint(a), "--machine-bits", fmt.Sprint(b)}
		case f.Has("node-bits"):
			words = bitsOfSCRU160(a, b, strings.HasSuffix(rest, "-us"))
		}
		if dated {
			words = append(words, "--epoch", epoch)
		}
		var o Options
		cmd := &cobra.Command{}
		o.AddTo(cmd)
		if err := cmd.Flags().Parse(words); err != nil {
			continue
		}
		if p, err := o.Pool(f.Name()); err == nil && p.Name == pool {
			return append([]string{f.Name()}, words...), p.Layout, true
		}
	}
	return nil, grant.Layout{}, false
}

// SettingsOf returns the format of a pool's IDs, and the settings to read the IDs. ok is false if no format
// has the layout.
func SettingsOf(layout grant.Layout) (f Format, set shape.Settings, ok bool) {
	f, ok = Lookup(layout.Format)
	if !ok {
		return f, set, false
	}
	usual := f.Descriptor().Default()
	var s options.Set
	if usual.Epoch != layout.Epoch.UnixMilli() {
		s.Epoch = layout.Epoch
	}
	switch w := layout.Widths; {
	case len(w) == 3 && f.Has("clock-bits"):
		s.Numbers = map[string]int{"clock-bits": w[0], "machine-bits": w[1]}
	case len(w) == 3 && f.Has("node-bits"):
		s.Numbers, s.Micro = map[string]int{"counter-bits": w[1] - usual.Widths[1], "node-bits": w[2]}, layout.Unit < usual.Unit
	}
	set, err := s.Settings(f.Descriptor())
	if err != nil {
		return f, set, false
	}
	p, err := Recipe{Format: f, Recipe: shape.Recipe{Settings: set}}.Pool()
	l := p.Layout
	return f, set, err == nil && l.Epoch.Equal(layout.Epoch) && l.Unit == layout.Unit && l.Workers == layout.Workers && slices.Equal(l.Widths, layout.Widths)
}

// bitsOfSCRU160 returns the flags for these widths.
func bitsOfSCRU160(counter, node int, micro bool) (words []string) {
	if counter != 0 {
		words = append(words, "--counter-bits", fmt.Sprint(counter))
	}
	if node != 0 {
		words = append(words, "--node-bits", fmt.Sprint(node))
	}
	if micro {
		words = append(words, "--micro")
	}
	return words
}

// LayoutsOf returns the layouts that a pool may have: for a default name its layout, for every other
// name the default layouts of all formats.
func LayoutsOf(pool string) (layouts []grant.Layout) {
	if _, l, ok := LayoutOf(pool); ok {
		return []grant.Layout{l}
	}
	for _, f := range All() {
		if p, err := (&Options{Flags: new(pflag.FlagSet)}).Pool(f.Name()); err == nil {
			layouts = append(layouts, p.Layout)
		}
	}
	return layouts
}

// Alike reports whether two pools make the same IDs. Pools of firn torture do not count: nobody keeps
// their IDs.
func Alike(a, b grant.Spec) bool {
	return a.Layout.Format == b.Layout.Format && a.Layout.Epoch.Equal(b.Layout.Epoch) && slices.Equal(a.Layout.Widths, b.Layout.Widths) &&
		!OfTorture(a.Name) && !OfTorture(b.Name)
}

// OfTorture reports whether a pool has a random name of firn torture.
func OfTorture(pool string) bool {
	digits, ok := strings.CutPrefix(pool, "torture-")
	return ok && len(digits) == 16 && strings.Trim(digits, "0123456789abcdef") == ""
}
