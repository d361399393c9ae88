// Package rights has what stores share that tell administrators the rights of programs.
package rights

import (
	"errors"
	"fmt"
	"strings"
)

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
