package pools

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/formats"
	"github.com/firn-id/firn/cmd/firn/internal/stores"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/grant"
)

// newCreate returns the command firn pool create.
func newCreate(s *cli.Streams) *cobra.Command {
	var (
		l    formats.Options
		name stores.PoolName
		c    = creation{s: s}
		st   = &c.st
	)
	cmd := &cobra.Command{
		Use:   "create FORMAT",
		Short: "Create a pool, and print its name and UUID",
		Example: `  firn pool create nanoflake --name orders --epoch 2020-01-01T00:00:00Z
  firn pool create nanoflake --store postgres://owner@db/app
  firn pool create scru160 --node-bits 8 --if-not-exists`,
		ValidArgsFunction: formats.CompleteFormat,
		Args:              oneFormat,
		RunE: func(cmd *cobra.Command, args []string) error {
			wanted, err := l.Pool(args[0])
			if err != nil {
				return err
			}
			if name != "" {
				wanted.Name = string(name)
			}
			c.wanted = wanted
			return c.run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.Var(&name, "name", "name of the pool (default: from the format)")
	l.AddTo(cmd)
	flags.BoolVar(&c.ifNotExists, "if-not-exists", false, "accept a pool with the same settings")
	flags.BoolVar(&c.allowOverlap, "allow-overlap", false, "allow a second pool for the same IDs")
	flags.BoolVar(&c.json, "json", false, "write a JSON object")
	st.AddTo(cmd)
	st.AddNoCreateTo(cmd, "fail if the store does not exist")
	cli.Complete(cmd, "name")
	return cmd
}

// oneFormat is [formats.OneFormat]. If the other of two arguments is the name of a pool, the error says where
// the name goes.
func oneFormat(cmd *cobra.Command, args []string) error {
	if len(args) == 2 {
		format, name := args[0], args[1]
		if _, ok := formats.Lookup(format); !ok {
			format, name = name, format
		}
		f, ok := formats.Lookup(format)
		if ok && new(stores.PoolName).Set(name) == nil {
			return cli.Usagef("too many arguments: the name of a pool goes by --name: did you mean firn pool create %s --name %s?", f.Name(), name)
		}
	}
	return formats.OneFormat(cmd, args)
}

// A creation is a run of firn pool create.
type creation struct {
	s            *cli.Streams
	st           stores.State
	wanted       grant.Spec
	ifNotExists  bool // an existing pool with the same settings will do
	allowOverlap bool // a pool for the same IDs may exist
	json         bool
}

// run makes the pool, or finds it, and prints it.
func (c *creation) run(ctx context.Context) error {
	store, _, err := c.st.Open(ctx)
	if err != nil {
		return c.st.Hint(err)
	}
	defer store.Close()
	if p, ok := store.(driver.Preparer); ok && !c.st.NoCreate {
		if err := p.Prepare(ctx); err != nil {
			return c.st.Hint(err)
		}
	}
	p, err := c.find(ctx, store)
	if errors.Is(err, lease.ErrNoPool) {
		if p, err = c.make(ctx, store); errors.Is(err, lease.ErrPoolExists) && c.ifNotExists { // another process was quicker
			p, err = c.find(ctx, store)
		}
	}
	if err != nil {
		return err
	}
	if !c.json {
		_, err = fmt.Fprintln(c.s.Out, p.Name(), p.UUID())
		return err
	}
	workers, _, err := p.Workers(ctx)
	if err != nil {
		return c.st.Hint(err)
	}
	return cli.WriteJSON(c.s.Out, aboutPool(p, len(workers)))
}

// find returns the pool that may exist with --if-not-exists.
func (c *creation) find(ctx context.Context, store driver.Store) (*lease.Pool, error) {
	if !c.ifNotExists {
		return nil, lease.ErrNoPool
	}
	p, err := lease.Open(ctx, store, c.wanted.Name, c.wanted.Layout)
	return p, c.st.Hint(err)
}

// make makes the pool.
func (c *creation) make(ctx context.Context, store driver.Store) (*lease.Pool, error) {
	if err := stores.CheckOverlap(ctx, c.s, &c.st, store, c.wanted, c.allowOverlap); err != nil {
		return nil, err
	}
	stores.Warn(ctx, c.s, &c.st, store)()
	p, err := lease.Create(ctx, store, c.wanted.Name, c.wanted.Layout)
	if err != nil {
		return nil, c.st.Hint(err)
	}
	c.st.SayCreated(c.s)
	return p, nil
}
