package times

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/formats"
	"github.com/firn-id/firn/cmd/firn/internal/makers"
	"github.com/firn-id/firn/cmd/firn/internal/stores"
	"github.com/firn-id/firn/internal/shape"
)

// A layout is a format with its settings.
type layout struct {
	formats.Format
	settings shape.Settings
	shape    shape.Shape
	created  time.Time // of the pool that has the settings; zero without a pool
}

// A source is the flags that say which settings the IDs have: those of a pool, or those of the flags.
type source struct {
	formats.Options
	state stores.State
	pool  stores.PoolName
}

// addTo adds the flags to cmd.
func (o *source) addTo(cmd *cobra.Command) {
	cmd.Flags().Var(&o.pool, "pool", "read the epoch and the widths from a pool")
	o.state.AddTo(cmd)
	o.Options.AddTo(cmd)
	if err := cmd.RegisterFlagCompletionFunc("pool", o.state.CompletePool); err != nil {
		panic(err) // no such flag, or twice
	}
}

// layout returns the layout for a format and the flags.
func (o *source) layout(ctx context.Context, name string) (layout, error) {
	l := layout{}
	var err error
	if l.Format, err = formats.Named(name); err != nil {
		return l, err
	}
	if err := o.Refuse(l.Format); err != nil {
		return l, err
	}
	if l.settings, err = o.Settings(); err != nil {
		return l, err
	}
	if err := o.read(ctx, &l); err != nil {
		return l, err
	}
	d := l.Descriptor()
	l.shape, err = d.Of(l.settings)
	if err == nil && d.Check != nil {
		err = d.Check(l.settings) // no generator has such settings
	}
	return l, o.Explain(err)
}

// read reads the settings of the pool, if the flags name one.
func (o *source) read(ctx context.Context, l *layout) error {
	if o.pool == "" {
		for _, name := range []string{"store", "state"} {
			if o.Flags.Changed(name) {
				return cli.Usagef("--%s: name the pool, too, by --pool", name)
			}
		}
		return nil
	}
	if given := o.Given(); len(given) > 0 {
		return cli.Usagef("%s: cannot be used with --pool: the pool has the setting", given[0])
	}
	p, err := makers.Open(ctx, &o.state, string(o.pool))
	if err != nil {
		return err
	}
	defer p.Close()
	if p.Format != l.Format {
		return cli.Usagef("--pool %s: its IDs are of %s, and not of %s", o.pool, p.Format.Name(), l.Name())
	}
	l.settings, l.created = p.Settings, p.Created()
	return nil
}
