package pools

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/makers"
	"github.com/firn-id/firn/cmd/firn/internal/stores"
	"github.com/firn-id/firn/inspect"
	"github.com/firn-id/firn/lease"
)

// newWho returns the command firn pool who.
func newWho(s *cli.Streams) *cobra.Command {
	var (
		st     stores.State
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "who NAME [ID]...",
		Short: "Show which process generated an ID",
		Example: `  firn pool who nanoflake 0549x5l2itvr4
  firn new nanoflake -n 1000 > ids
  firn pool who nanoflake --json < ids`,
		Args: func(_ *cobra.Command, args []string) error {
			return onePool(nil, args[:min(len(args), 1)])
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return who(cmd.Context(), s, &st, args[0], args[1:], asJSON)
		},
	}
	cmd.ValidArgsFunction = st.CompletePool
	cmd.Flags().SortFlags = false
	cmd.Flags().BoolVar(&asJSON, "json", false, "write one JSON object per ID")
	st.AddTo(cmd)
	return cmd
}

// who answers who made IDs.
func who(ctx context.Context, s *cli.Streams, st *stores.State, name string, ids []string, asJSON bool) error {
	p, err := makers.Open(ctx, st, name)
	if errors.Is(err, lease.ErrNoPool) && isID(name) {
		return cli.Usagef("%s is an ID: name its pool first: %s", name, st.Command("firn pool who POOL "+name))
	}
	if err != nil {
		return err
	}
	defer p.Close()
	answer := func(id string) (invalid, err error) { return whoMade(ctx, s, p, id, asJSON) }
	answers := cli.Inputs{Streams: s, JSON: asJSON, Answer: answer}
	return answers.Each(ids)
}

// isID reports whether a word is the text of an ID.
func isID(word string) bool {
	return slices.ContainsFunc(inspect.Formats(), func(f inspect.Format) bool {
		_, err := f.Read(word, inspect.Settings{})
		return err == nil && len(word) > 10 // a short word may be a number
	})
}

// whoMade answers who made an ID of a pool.
func whoMade(ctx context.Context, s *cli.Streams, p *makers.Pool, text string, asJSON bool) (invalid, err error) {
	binary, invalid := p.Read(text)
	if invalid != nil {
		return invalid, nil
	}
	id, err := p.Info(binary)
	if err != nil {
		return nil, err
	}
	m, err := p.Of(ctx, binary)
	if err != nil {
		return nil, err
	}
	if asJSON {
		return nil, cli.WriteJSON(s.Out, whoAnswer(p, id, m))
	}
	const indent = "  "
	line := fmt.Sprintf("%s  worker %d at %s: %s", id.ID, m.Worker, milliText(id.Time), m)
	_, err = fmt.Fprintln(s.Out, cli.Wrap(line, s.Limit()-len(indent), indent))
	return nil, err
}

// whoObject is an answer in JSON.
type whoObject struct {
	Pool   string         `json:"pool"`
	ID     string         `json:"id"`
	Worker int            `json:"worker"`
	Time   jsonTime       `json:"time"`
	Holder *makers.Object `json:"holder"`
}

// nobodyObject is the answer that nobody is recorded, in JSON.
type nobodyObject struct {
	whoObject
	Known *makers.Time `json:"known"`
}

// whoAnswer returns the answer in JSON.
func whoAnswer(p *makers.Pool, id inspect.Info, m makers.Maker) any {
	o := whoObject{Pool: p.Name(), ID: id.ID, Worker: m.Worker, Time: jsonTime{id.Time}, Holder: makers.ObjectOf(m.Holder)}
	if m.Holder != nil {
		return o
	}
	return nobodyObject{o, m.KnownTime()}
}

// holderText names the present holder of a worker, or the last holder, to people.
func holderText(w lease.Worker) string {
	switch {
	case w.Held:
		return w.Holder
	case len(w.Holders) > 0:
		return "last " + w.Holders[0].String()
	}
	return ""
}
