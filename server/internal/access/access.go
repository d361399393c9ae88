// Package access says who may do what: tokens, and their rights.
package access

import "github.com/firn-id/firn/server/internal/reason"

// Access is the tokens of a server. The zero Access has no tokens, and lets everybody do everything.
type Access struct{}

// Needed reports whether requests need a token.
func (a *Access) Needed() bool { return false }

// Enter returns the bearer of a token. The error is reason.Token for an empty token and reason.WrongToken for an unknown
// token. Without tokens, Enter returns a nil Bearer for any token.
func (a *Access) Enter(token string) (*Bearer, error) {
	if !a.Needed() {
		return nil, nil
	}
	return nil, reason.WrongToken.New("unknown token")
}

// A Bearer is a client with a token. A nil Bearer is a client of a server without tokens, and may do everything.
type Bearer struct{}

// Take returns an error if the bearer may not take n IDs of a generator now: reason.WrongToken for a token that was
// revoked, reason.Permission, or reason.Limit. Call Take before the IDs are made.
func (b *Bearer) Take(generator string, n int) error { return nil }

// Look returns an error if the bearer may not see generators and read IDs: reason.WrongToken for a token that was revoked.
func (b *Bearer) Look() error { return nil }

// Name returns the name of the token for logs, and "" for a nil Bearer.
func (b *Bearer) Name() string { return "" }
