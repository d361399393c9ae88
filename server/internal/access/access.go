// Package access says who may do what: tokens, and their rights.
//
// The tokens are in a file, which [Access] reads again when it changes. A token that is no longer in the file loses its
// rights at once, also on open connections.
package access

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/firn-id/firn/internal/shell"
	"github.com/firn-id/firn/server/internal/reason"
	"github.com/firn-id/firn/server/internal/watch"
)

// A Config says where the tokens are.
type Config struct {
	Path       string   // the file; "" for a server without tokens
	Burst      int      // the least IDs that a token with a rate can take at once: the most IDs of a request
	Generators []string // the names of all generators, for a warning about rights on no generator
	Log        *slog.Logger
	Reloaded   func(error) // if not nil, gets the result of each Reload
}

// Access is the tokens of a server. The zero Access has no tokens, and lets everybody do everything. An Access is safe
// for concurrent use.
type Access struct {
	config Config
	files  *watch.Files
	now    atomic.Pointer[table]
	broken atomic.Bool // the last Reload has found a fault
	mu     sync.Mutex  // of reloads
}

// A table finds the bearer of a token by the token's SHA-256. Clients cannot choose the sum of a token, so the time of a
// lookup tells them nothing.
type table = map[[sha256.Size]byte]*Bearer

// New reads the tokens. Without a path, New returns the zero Access.
func New(c Config) (*Access, error) {
	if c.Path == "" {
		return &Access{}, nil
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	a := &Access{config: c, files: watch.New(c.Path)}
	if _, err := a.read(); err != nil {
		return nil, err
	}
	return a, nil
}

// Watch reads the file again after each change, until ctx ends.
func (a *Access) Watch(ctx context.Context) {
	if a.files != nil {
		a.files.Run(ctx, a.Reload)
	}
}

// Reload reads the file again. If the file has a fault, the old tokens stay, and the log says so. The log also says when
// the fault is gone.
func (a *Access) Reload() {
	if a.files == nil {
		return
	}
	c, err := a.read()
	if a.config.Reloaded != nil {
		a.config.Reloaded(err)
	}
	if was := a.broken.Swap(err != nil); was && err == nil {
		a.config.Log.Info("the file of tokens has no fault any more", "file", a.config.Path, "tokens", a.Tokens())
	}
	switch {
	case err != nil:
		a.config.Log.Error("the tokens have a fault, so the old tokens stay", "file", a.config.Path, "err", err)
	case c.new+c.revoked+c.changed > 0:
		a.config.Log.Info("tokens", "file", a.config.Path, "tokens", a.Tokens(), "new", c.new, "changed", c.changed, "revoked", c.revoked)
	}
}

// Needed reports whether requests need a token.
func (a *Access) Needed() bool { return a.files != nil }

// Tokens returns how many tokens there are.
func (a *Access) Tokens() int {
	if t := a.now.Load(); t != nil {
		return len(*t)
	}
	return 0
}

// longest is the length of the longest token, in bytes.
const longest = 256

// Enter returns the bearer of a token. The error is reason.Token for an empty token and reason.WrongToken for an unknown
// token. Without tokens, Enter returns a nil Bearer for any token.
func (a *Access) Enter(token string) (*Bearer, error) {
	if !a.Needed() {
		return nil, nil
	}
	if token == "" {
		return nil, reason.Token.New("the server needs a token")
	}
	if len(token) <= longest {
		var room [longest]byte // on the stack, unlike []byte(token)
		if b := (*a.now.Load())[sha256.Sum256(room[:copy(room[:], token)])]; b != nil {
			return b, nil
		}
	}
	return nil, reason.WrongToken.New("unknown token")
}

// A Bearer is a client with a token. A nil Bearer is a client of a server without tokens, and may do everything.
type Bearer struct {
	name   string
	rights atomic.Pointer[rights] // nil for a token that was revoked
}

// rights are what a token may do.
type rights struct {
	generators []string // names, and patterns with a '*' at their end; nil for all generators
	read       bool
	limit      *rate.Limiter // nil without a limit
}

func (r *rights) may(generator string) bool {
	if r.generators == nil {
		return true
	}
	for _, p := range r.generators {
		if fits(p, generator) {
			return true
		}
	}
	return false
}

// fits reports whether a name is the pattern, or begins as a pattern with a '*'.
func fits(pattern, name string) bool {
	start, many := strings.CutSuffix(pattern, "*")
	return name == pattern || many && strings.HasPrefix(name, start)
}

// same reports whether two rights are equal. Two limits are equal if they allow the same.
func (r *rights) same(o *rights) bool {
	limits := r.limit == nil && o.limit == nil ||
		r.limit != nil && o.limit != nil && r.limit.Limit() == o.limit.Limit() && r.limit.Burst() == o.limit.Burst()
	return limits && r.read == o.read && (r.generators == nil) == (o.generators == nil) && slices.Equal(r.generators, o.generators)
}

// May returns an error if the bearer may never take IDs of a generator: reason.WrongToken for a token that was revoked,
// or reason.Permission. Call May before any error that says more about the generator.
func (b *Bearer) May(generator string) error {
	if b == nil {
		return nil
	}
	_, err := b.allowed(generator)
	return err
}

// allowed returns the rights of a bearer that may take IDs of a generator.
func (b *Bearer) allowed(generator string) (*rights, error) {
	switch r := b.rights.Load(); {
	case r == nil:
		return nil, b.revoked()
	case !r.may(generator):
		return nil, reason.Permission.New("the token %s may not take IDs of the generator %s", b.name, generator)
	default:
		return r, nil
	}
}

// Take returns an error if the bearer may not take n IDs of a generator now: an error of May, or reason.Limit. Call Take
// before the IDs are made.
func (b *Bearer) Take(generator string, n int) error {
	if b == nil {
		return nil
	}
	r, err := b.allowed(generator)
	if err != nil {
		return err
	}
	switch now := time.Now(); {
	case r.limit == nil || r.limit.AllowN(now, n):
		return nil
	case n > r.limit.Burst(): // no wait helps
		return reason.Limit.New("the token %s may take %d IDs at once, and not %d: ask for fewer", b.name, r.limit.Burst(), n)
	default:
		missing := float64(n) - r.limit.TokensAt(now)
		e := reason.Limit.New("the token %s may take %.0f IDs a second: ask more slowly", b.name, float64(r.limit.Limit()))
		e.Retry = max(time.Duration(missing/float64(r.limit.Limit())*float64(time.Second)), time.Millisecond)
		return e
	}
}

// MayRead returns an error if the bearer may not see generators and read IDs: reason.WrongToken for a token that was revoked,
// or reason.Permission.
func (b *Bearer) MayRead() error {
	if b == nil {
		return nil
	}
	switch r := b.rights.Load(); {
	case r == nil:
		return b.revoked()
	case !r.read:
		return reason.Permission.New("the token %s has no right to read", b.name)
	}
	return nil
}

// Tell returns the error that the bearer may read in place of err. For a bearer that may not read, the text of an unknown
// name does not list the generators, and the text of a generator without a worker does not have the error of the store,
// which may name hosts and users. The reason and its Retry stay. A nil err is nil.
func (b *Bearer) Tell(err error) error {
	e, ok := errors.AsType[*reason.Error](err)
	if !ok || b.MayRead() == nil {
		return err
	}
	switch e.Of {
	case reason.Unknown, reason.Starting, reason.Setup, reason.Window, reason.Draining:
		return &reason.Error{Of: e.Of, Text: cmp.Or(e.Brief, e.Of.Means), Retry: e.Retry, Err: e}
	}
	return err
}

func (b *Bearer) revoked() error {
	return reason.WrongToken.New("the token %s was revoked", b.name)
}

// Name returns the name of the token for logs, and "" for a nil Bearer.
func (b *Bearer) Name() string {
	if b == nil {
		return ""
	}
	return b.name
}

// changes counts what a reload has changed.
type changes struct{ new, changed, revoked int }

// read reads the file, and makes its tokens the tokens of the server. A token of both the old and the new file keeps its
// Bearer and its limit, and gets its new rights.
func (a *Access) read() (changes, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	list, err := readFile(a.config.Path)
	if err != nil {
		return changes{}, err
	}
	before := table{}
	if old := a.now.Load(); old != nil {
		before = maps.Clone(*old)
	}
	var c changes
	all := table{}
	for _, t := range list {
		a.warn(&t)
		b := before[t.sum]
		if b == nil || b.name != t.name {
			c.new++
			b = &Bearer{name: t.name}
		} else {
			delete(before, t.sum)
		}
		all[t.sum] = b
		r := t.rights(a.config.Burst)
		if had := b.rights.Load(); had != nil {
			if had.same(r) {
				continue
			}
			c.changed++
			if had.limit != nil && r.limit != nil {
				had.limit.SetLimit(r.limit.Limit())
				had.limit.SetBurst(r.limit.Burst())
				r.limit = had.limit
			}
		}
		b.rights.Store(r)
	}
	a.now.Store(&all)
	for _, b := range before {
		c.revoked++
		b.rights.Store(nil)
	}
	if len(all) == 0 {
		a.config.Log.Warn("the file has no tokens, so nobody may do anything", "file", a.config.Path)
	}
	return c, nil
}

// warn warns about rights on generators that the server does not have, which may be misspelt.
func (a *Access) warn(t *token) {
	for _, p := range t.generators {
		if len(a.config.Generators) > 0 && !slices.ContainsFunc(a.config.Generators, func(name string) bool { return fits(p, name) }) {
			a.config.Log.Warn("a token has a right on no generator", "file", a.config.Path, "token", t.name, "generators", p)
		}
	}
}

// A token is a token of the file.
type token struct {
	name       string
	sum        [sha256.Size]byte
	generators []string
	rate       int // 0 without a limit
	read       bool
}

func (t *token) rights(burst int) *rights {
	r := &rights{generators: t.generators, read: t.read}
	if t.rate > 0 {
		r.limit = rate.NewLimiter(rate.Limit(t.rate), max(t.rate, burst))
	}
	return r
}

var errOthers = errors.New("other users may use the file")

// othersError returns the error for a file with a mode that lets other users in.
func othersError(path string, mode fmt.Stringer) error {
	return fmt.Errorf("%s: %w, which has secrets (mode %s): chmod 600 %s; or 640, for a group", path, errOthers, mode, shell.Word(path))
}
