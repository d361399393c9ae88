package times

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/formats"
	"github.com/firn-id/firn/cmd/firn/internal/makers"
	"github.com/firn-id/firn/internal/shape"
)

// A layout is a format with its settings.
type layout struct {
	formats.Format
	settings shape.Settings
	shape    shape.Shape
	created  time.Time // of the pool that has the settings; zero without a pool
}

// A source is the flags that say which settings the IDs have.
type source struct{ makers.Source }

// addTo adds the flags to cmd.
func (o *source) addTo(cmd *cobra.Command) { o.AddTo(cmd, "read the epoch and the widths from a pool") }

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
	if o.Name == "" {
		for _, name := range []string{"store", "state"} {
			if o.Flags.Changed(name) {
				return cli.Usagef("--%s: name the pool, too, by --pool", name)
			}
		}
		return nil
	}
	p, err := o.Open(ctx, l.Format)
	if err != nil {
		return err
	}
	defer p.Close()
	l.settings, l.created = p.Settings, p.Created()
	return nil
}
