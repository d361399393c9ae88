// Package serve has the command firn serve. Module server is the server.
package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/stores"
	"github.com/firn-id/firn/cmd/firn/internal/version"
	"github.com/firn-id/firn/server"
)

// serveFlags are the flags of firn serve.
type serveFlags struct {
	stores.State
	flags    *pflag.FlagSet
	listen   addresses
	resp     word
	unix     word
	tokens   word
	insecure bool
	cert     word
	key      word
	ca       word
	config   word
	check    bool
}

// New returns the command firn serve.
func New(s *cli.Streams) *cobra.Command {
	f := serveFlags{resp: word{kind: "HOST:PORT"}, unix: word{kind: "PATH"}, tokens: word{kind: "FILE"}, cert: word{kind: "FILE"}, key: word{kind: "FILE"},
		ca: word{kind: "FILE"}, config: word{kind: "FILE"}}
	f.Instead.TrustClock = "trust-clock = true under [lease] in the file of --config"
	f.Instead.Pool = "pool = \"NAME\" in the file of --config"
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve IDs over RESP, HTTP and gRPC",
		Example: `  firn serve
  firn serve --state /var/lib/firn --no-create
  firn serve --config firn.toml --check`,
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), s) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	f.flags = flags
	flags.Var(&f.listen, "listen", "listen here; repeatable (default "+server.DefaultListen+")")
	flags.Var(&f.resp, "resp", "listen here, too, for RESP alone")
	flags.Var(&f.unix, "unix", "listen at a socket of this path, too")
	flags.Var(&f.tokens, "tokens", "let in only clients with a token of this file")
	flags.BoolVar(&f.insecure, "insecure", false, "let other machines in without TLS")
	flags.Var(&f.cert, "tls-cert", "certificate of the server, with its chain")
	flags.Var(&f.key, "tls-key", "private key of the certificate")
	flags.Var(&f.ca, "tls-ca", "authorities of the clients' certificates")
	flags.Var(&f.config, "config", "read generators and settings from this file")
	flags.BoolVar(&f.check, "check", false, "say what the server would do, and end")
	f.State.AddTo(cmd)
	f.AddNoCreateTo(cmd, "fail if a store or a pool does not exist")
	cli.Complete(cmd, "listen", server.DefaultListen, "0.0.0.0:7433")
	cli.Complete(cmd, "resp", "127.0.0.1:6379")
	for flag, extensions := range map[string][]string{"config": {"toml"}, "tokens": {"toml"}, "tls-cert": {"crt", "pem"}, "tls-key": {"key", "pem"},
		"tls-ca": {"crt", "pem"}, "unix": nil} {
		if err := cmd.MarkFlagFilename(flag, extensions...); err != nil {
			panic(err) // no such flag
		}
	}
	return cmd
}

// run runs the command.
func (f *serveFlags) run(ctx context.Context, s *cli.Streams) error {
	defer runtime.KeepAlive(floor())
	log := slog.New(slog.NewTextHandler(s.Err, nil))
	c, err := f.load(log)
	if err != nil {
		return err
	}
	opener, err := f.opener(log, &c)
	if err != nil {
		return err
	}
	if f.check {
		opener.looks = true
		return f.report(ctx, s, &c, opener)
	}
	if err := opener.openDefault(ctx); err != nil {
		return err
	}
	defer opener.close()
	sockets, err := newSockets()
	if err != nil {
		return err
	}
	defer daemon.SdNotify(false, daemon.SdNotifyStopping)
	c.OpenSocket = sockets.open
	c.Ready = func() error {
		if err := leaveStartup(); err != nil {
			log.Debug("the memory of the start stays", "err", err)
		}
		return sockets.ready()
	}
	fitFiles(&c)
	made, err := server.New(c)
	if err != nil {
		return f.fileError(err)
	}
	return f.serve(ctx, s, log, &c, made)
}

// floor returns memory that lets the heap grow by at least 10 MiB between two collections, as long as the memory is kept.
// Nobody reads or writes the memory, so it takes no memory of the machine, but the collector counts it. The server keeps
// about 2 MiB, and each request of HTTP makes garbage, so Go's default means 50 collections a second, a tenth of the
// processor's time. A larger GOGC would have the same effect on a small heap, and would make the heap of ten thousand
// connections several times as large as what they keep. Whoever sets GOGC or GOMEMLIMIT gets Go's own rule.
func floor() []byte {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return nil
	}
	return make([]byte, 10<<20)
}

// load returns the Config of the file and the flags. A fault of either is wrong usage.
func (f *serveFlags) load(log *slog.Logger) (c server.Config, err error) {
	if f.config.text != "" {
		if c, err = server.Load(f.config.text); err != nil {
			return c, f.configError(err)
		}
	}
	c.Log, c.Version = log, version.Read().Version
	if f.flags.Changed("listen") {
		c.Listen = f.listen
	}
	for _, set := range []struct {
		flag string
		from word
		to   *string
	}{
		{"resp", f.resp, &c.RESP}, {"unix", f.unix, &c.Unix}, {"tokens", f.tokens, &c.Tokens},
		{"tls-cert", f.cert, &c.TLS.Cert}, {"tls-key", f.key, &c.TLS.Key}, {"tls-ca", f.ca, &c.TLS.CA},
	} {
		if f.flags.Changed(set.flag) {
			*set.to = set.from.text
		}
	}
	if f.flags.Changed("insecure") {
		c.Insecure = f.insecure
	}
	return c, nil
}

// configError turns a fault of the configuration into wrong usage. A setting of a flag has the name of the flag.
func (f *serveFlags) configError(err error) error {
	bad, ok := errors.AsType[*server.ConfigError](err)
	switch {
	case err == nil:
		return nil
	case !ok: // the file cannot be read
		return cli.Usagef("--config: %w", err)
	}
	if flag := strings.ReplaceAll(bad.Key, ".", "-"); f.flags.Changed(flag) {
		return cli.Usagef("--%s: %s", flag, bad.Text)
	}
	return cli.Usage(err)
}

// fileError names the setting of a file that the server cannot read.
func (f *serveFlags) fileError(err error) error {
	bad, ok := errors.AsType[*server.ConfigError](err)
	if !ok || bad.Err == nil {
		return err
	}
	if flag := strings.ReplaceAll(bad.Key, ".", "-"); f.flags.Changed(flag) {
		return fmt.Errorf("--%s: %w", flag, bad.Err)
	}
	return err
}

// serve runs a server until a signal.
func (f *serveFlags) serve(ctx context.Context, s *cli.Streams, log *slog.Logger, c *server.Config, running *server.Server) error {
	defer s.Cleanup.Take()()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ends, reloads := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(ends, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(ends)
	signal.Notify(reloads, syscall.SIGHUP)
	defer signal.Stop(reloads)
	done := make(chan error, 1)
	go func() { done <- running.Serve(ctx) }()
	var late <-chan time.Time
	for {
		select {
		case sig := <-ends:
			if late != nil {
				continue // stopping already
			}
			// A signal after a second ends the process. Some programs send the first one twice, as timeout does.
			time.AfterFunc(time.Second, func() { signal.Stop(ends) })
			log.Info("stopping: requests are finished, and workers given back", "signal", sig.String())
			stop()
			late = time.After(cmp.Or(c.Drain, server.DefaultDrain) + grace)
		case <-reloads:
			log.Info("reading the tokens and certificates again")
			running.Reload()
		case err := <-done:
			return f.hint(err)
		case <-late:
			log.Warn("stopped late: connections were cut, and workers come free at the end of their windows")
			return nil
		}
	}
}

// grace is how long a server may take to end after its time to drain. Giving workers back takes 1.5 s at most.
const grace = 1800 * time.Millisecond

// hint returns an error with hints for the user.
func (f *serveFlags) hint(err error) error {
	if bad, ok := errors.AsType[*server.ListenError](err); ok {
		return cli.WithHints(err, func() []string { return []string{socketHint(bad)} })
	}
	return f.Hint(err)
}

// socketHint returns what to do about a socket that cannot be opened.
func socketHint(e *server.ListenError) string {
	unix := e.Setting == "unix"
	info, missing := os.Lstat(e.Address)
	var why string
	switch {
	case unix && errors.Is(e, syscall.EADDRINUSE) && missing == nil && info.Mode().Type() != os.ModeSocket:
		why = "The file there is no socket."
	case errors.Is(e, syscall.EADDRINUSE):
		why = "Another program listens there: end it, or choose another address."
	case errors.Is(e, fs.ErrNotExist):
		why = "Create the directory, or choose another path."
	case errors.Is(e, fs.ErrPermission) && !unix:
		why = "Choose a port from 1024 on, or grant this user the right to use lower ports."
	case errors.Is(e, fs.ErrPermission):
		why = "This user may not create a socket there: choose another path."
	default:
		why = "Choose another address."
	}
	return why + "  --" + e.Setting
}

// A word is the value of a flag: a text that is not empty.
type word struct {
	text string
	kind string
}

var _ pflag.Value = (*word)(nil)

func (w *word) Type() string { return w.kind }

func (w *word) String() string { return w.text }

func (w *word) Set(s string) error {
	if s == "" {
		return errors.New("is empty: want a " + w.kind)
	}
	w.text = s
	return nil
}

// addresses is the value of a flag that may be repeated: addresses.
type addresses []string

var _ pflag.Value = (*addresses)(nil)

func (a *addresses) Type() string { return "HOST:PORT" }

func (a *addresses) String() string { return strings.Join(*a, ",") }

func (a *addresses) Set(s string) error {
	*a = append(*a, s)
	return nil
}
