// Package stores opens the user's store, and explains errors of stores to users.
package stores

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/lease/address"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/etcdlease"
	"github.com/firn-id/firn/lease/filelease"
	"github.com/firn-id/firn/lease/kubelease"
	"github.com/firn-id/firn/lease/pglease"
	"github.com/firn-id/firn/lease/redislease"
)

// A Kind is a kind of store.
type Kind struct {
	Scheme string // of the addresses
	Form   string // of an address, for people

	// Permissions returns what gives a user the rights that a program needs at the store of an address. nil
	// means that nobody knows.
	Permissions func(address, user string) (string, error)
	Who         string // what the user is; "" if the rights have no user
	In          string // the language of Permissions, and who reads it
}

// Kinds lists all kinds of stores. The packages of the stores have registered the schemes.
var Kinds = []Kind{
	{"file", "file:///var/lib/firn", filelease.Permissions, "group", "commands of a shell, for root"},
	{"etcd", "etcd://user@host:2379,host2:2379/prefix?password-file=PATH&ca=PATH", etcdlease.Permissions, "user", "commands with etcdctl, for the user root of etcd"},
	{"postgres", "postgres://user@host:5432/database?password-file=PATH&sslmode=verify-full", pglease.Permissions, "role", "SQL, for the owner of the table"},
	{"kubernetes", "kubernetes://namespace/prefix?server=https://HOST&token-file=PATH&ca=PATH", kubelease.Permissions, "service account", "YAML, for kubectl apply -f -"},
	{"redis", "redis://user@host:6379/0?password-file=PATH", redislease.Permissions, "user", "a command of Redis, to type in redis-cli: a shell takes | for a pipe"},
	{"rediss", "rediss://user@host:6379/0?password-file=PATH", redislease.Permissions, "user", "a command of Redis, to type in redis-cli: a shell takes | for a pipe"},
}

// KindOf returns the kind of store of an address.
func KindOf(addr string) (Kind, error) {
	a, err := address.Parse(addr)
	if err != nil {
		return Kind{}, err
	}
	for _, k := range Kinds {
		if k.Scheme == a.Scheme {
			return k, nil
		}
	}
	return Kind{}, fmt.Errorf("%w: unknown kind %s://: want %s", driver.ErrAddress, a.Scheme, cli.List(schemes(), "or"))
}

// schemes returns the beginnings of addresses of all kinds.
func schemes() []string {
	var all []string
	for _, k := range Kinds {
		all = append(all, k.Scheme+"://")
	}
	return all
}

// AddressForms returns an example address per line.
func AddressForms() string {
	var lines strings.Builder
	lines.WriteString("    /var/lib/firn\n")
	for _, k := range Kinds {
		lines.WriteString("    " + k.Form + "\n")
	}
	return lines.String()
}

// Variable is the environment variable with the default of --store.
const Variable = "FIRN_STORE"

// An Address is the value of a flag: the address of a store. An address may contain a secret, so an
// Address prints as "", and errors about the address come later, without the address.
type Address string

var _ pflag.Value = (*Address)(nil)

func (a *Address) Type() string { return "ADDRESS" }

func (a *Address) String() string { return "" }

// Set makes a relative path absolute: only a flag is read in the working directory that its user sees.
func (a *Address) Set(s string) error {
	if isRelative(filepath.ToSlash(s)) && !strings.Contains(s, "://") {
		abs, err := filepath.Abs(s)
		if err != nil {
			return err
		}
		s = abs
	}
	*a = Address(s)
	return nil
}

// isRelative reports whether a path with slashes is relative and, as an address, a path.
func isRelative(path string) bool {
	return strings.HasPrefix(path, "./") || strings.HasPrefix(path, "../")
}

const addressForms = "The forms of addresses:  firn pool --help"

// BadAddress turns an error about an address into wrong usage, without the parts of the text that
// may contain a secret. Other errors stay unchanged.
func BadAddress(name string, err error) error {
	if !errors.Is(err, driver.ErrAddress) {
		return err
	}
	for { // down to the error that has no more than the reason
		var inner error
		switch e := err.(type) {
		case interface{ Unwrap() error }:
			inner = e.Unwrap()
		case interface{ Unwrap() []error }:
			for _, i := range e.Unwrap() {
				if errors.Is(i, driver.ErrAddress) {
					inner = i
				}
			}
		}
		if inner == nil || inner == driver.ErrAddress {
			return cli.WithHints(cli.Usagef("%s: %w", name, err), func() []string { return []string{addressForms} })
		}
		err = inner
	}
}

// CompleteStore completes the beginnings of addresses, and directories in file addresses and paths.
func CompleteStore(_ *cobra.Command, _ []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	const directive = cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
	var found []string
	path, isFile := strings.CutPrefix(toComplete, "file://")
	if strings.HasPrefix(path, "/") || !isFile && isRelative(path) {
		above := path[:strings.LastIndexByte(path, '/')+1]
		inside, _ := os.ReadDir(above)
		for _, e := range inside {
			if full := above + e.Name(); e.IsDir() && strings.HasPrefix(full, path) && !strings.HasPrefix(e.Name(), ".") {
				found = append(found, strings.TrimSuffix(toComplete, path)+full)
			}
		}
		return found, directive
	}
	for _, scheme := range schemes() {
		if scheme == "file://" {
			scheme += "/"
		}
		if strings.HasPrefix(scheme, toComplete) {
			found = append(found, scheme)
		}
	}
	return found, directive
}
