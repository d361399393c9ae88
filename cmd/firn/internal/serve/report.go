package serve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/server"
)

// report says what a server would do. A fault that keeps a generator, the certificate or the tokens from working is an
// error. A store that can lose changes is a warning.
func (f *serveFlags) report(ctx context.Context, s *cli.Streams, c *server.Config, o *opener) error {
	p, err := c.Plan(ctx)
	if err != nil {
		return f.configError(err)
	}
	for _, line := range settings(p) {
		fmt.Fprintln(s.Out, line)
	}
	fmt.Fprintln(s.Out)
	table := &cli.Table{Columns: []cli.Column{{Head: "GENERATOR"}, {Head: "FORMAT"}, {Head: "KEYS", Drop: 1}, {Head: "WORKERS"}}}
	var broken []error // of each text: generators of one store often have the same error
	names := map[string][]string{}
	for i := range p.Makes {
		g := &p.Makes[i]
		table.Add(g.Name, g.Format, strings.Join(g.Keys, " "), workers(g))
		if g.Err != nil {
			err := o.states[g.Name].Hint(g.Err)
			if names[err.Error()] == nil {
				broken = append(broken, err)
			}
			names[err.Error()] = append(names[err.Error()], g.Name)
		}
	}
	for _, line := range table.Lines(s.Limit()) {
		fmt.Fprintln(s.Out, line)
	}
	if err := s.Out.Flush(); err != nil {
		return err
	}
	slices.Sort(o.found)
	for _, text := range slices.Compact(o.found) {
		cli.Complain(s.Err, errors.New("warning: "+text))
	}
	for _, err := range broken {
		kind, of := "generator", names[err.Error()]
		if len(of) > 1 {
			kind = "generators"
		}
		p.Faults = append(p.Faults, fmt.Errorf("%s %s: %w", kind, cli.List(of, "and"), err))
	}
	for i, err := range p.Faults {
		p.Faults[i] = f.fileError(err)
	}
	return s.Report(p.Faults)
}

// settings returns the lines about all but the generators.
func settings(p *server.Plan) (lines []string) {
	say := func(name, text string, args ...any) {
		lines = append(lines, fmt.Sprintf("%-9s %s", name, cli.Printable(fmt.Sprintf(text, args...))))
	}
	over := ""
	if p.TLS.Cert != "" {
		over = ", over TLS"
	}
	for _, a := range p.Listen {
		say("listen", "%s: RESP, HTTP and gRPC%s", a, over)
	}
	if p.RESP != "" {
		say("resp", "%s: RESP%s", p.RESP, over)
	}
	if p.Unix != "" {
		say("unix", "%s: RESP, HTTP and gRPC", p.Unix)
	}
	if p.TLS.Cert != "" {
		text := "certificate " + p.TLS.Cert
		if !p.Expires.IsZero() {
			text += ", valid until " + cli.TimeText(p.Expires.UTC())
		}
		if p.TLS.CA != "" {
			text += "; clients need a certificate of " + p.TLS.CA
		}
		say("tls", "%s", text)
	} else {
		say("tls", "none")
	}
	if p.Tokens != "" && p.Known < 0 {
		say("tokens", "%s: see below", p.Tokens)
	} else if p.Tokens != "" {
		say("tokens", "%d in %s", p.Known, p.Tokens)
	} else {
		say("tokens", "none: every client may take IDs")
	}
	if len(p.Hosts) > 0 {
		say("hosts", "%s", cli.List(p.Hosts, "and"))
	}
	say("limits", "%d IDs a request, %d connections, %v of waiting for IDs", p.Limits.IDs, p.Limits.Connections, p.Limits.Wait)
	say("lease", "windows of %v", p.Lease.Window)
	say("drain", "%v", p.Drain)
	return lines
}

// workers says which workers a generator leases.
func workers(g *server.PlannedGenerator) string {
	if g.Leases == 0 {
		return "none: random bits keep the IDs apart"
	}
	text := fmt.Sprintf("%d of pool %s in %s", g.Leases, g.PoolName, g.StoreName)
	switch {
	case g.Err != nil:
		return text + ": see below"
	case !g.Exists:
		return text + ", which the server makes"
	}
	return text
}
