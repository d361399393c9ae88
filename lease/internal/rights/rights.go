// Package rights has what stores share that tell administrators the rights of programs.
package rights

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/firn-id/firn/lease/address"
	"github.com/firn-id/firn/lease/driver"
)

// Parse reads the address of a store, without the settings of the store: rights need no secrets and
// no certificates. The user is the user of the address unless another is given. The scheme of the
// address must be one of schemes.
func Parse(addr, user string, schemes ...string) (*address.Address, string, error) {
	a, err := address.Parse(addr)
	if err != nil {
		return nil, "", err
	}
	if slices.Contains(schemes, a.Scheme) {
		if user == "" {
			user = a.User
		}
		return a, user, nil
	}
	return nil, "", fmt.Errorf("%w: it begins with %s://, not %s://", driver.ErrAddress, a.Scheme, schemes[0])
}

// ParseUser is Parse for a user whose name needs no quotes, as [User] says.
func ParseUser(addr, user string, schemes ...string) (*address.Address, string, error) {
	a, user, err := Parse(addr, user, schemes...)
	if err == nil {
		err = User(user)
	}
	return a, user, err
}

// User returns an error unless the name of a user needs no quotes in commands, configurations and
// policies: letters, digits, '.', '_', '-' and '@', and a letter, a digit or '_' first.
func User(user string) error {
	switch {
	case user == "":
		return errors.New("there is no user to give the rights to")
	case len(user) > 100, strings.ContainsFunc(user, foreign), strings.ContainsAny(user[:1], ".-@"):
		return fmt.Errorf("the name %.100q is not of letters, digits, '.', '_', '-' and '@'", user)
	}
	return nil
}

func foreign(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("._-@", r)
}

// Word quotes a word for a shell, if the word needs quotes.
func Word(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-:@", r)
	}
	if s != "" && strings.TrimLeftFunc(s, plain) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
