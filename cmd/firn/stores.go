package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/firn-id/firn/lease/address"
	"github.com/firn-id/firn/lease/consullease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/etcdlease"
	"github.com/firn-id/firn/lease/kubelease"
	"github.com/firn-id/firn/lease/natslease"
	"github.com/firn-id/firn/lease/pglease"
	"github.com/firn-id/firn/lease/redislease"
	"github.com/firn-id/firn/leased"
)

// A kind is a kind of stores.
type kind struct {
	scheme string // of their addresses
	form   string // of an address, to people
	open   func(ctx context.Context, address string) (driver.Store, error)
}

// kinds is all that there are.
var kinds = []kind{
	{"file", "file:///var/lib/firn", openFile},
	{"etcd", "etcd://user@host:2379,host2:2379/prefix?password-file=PATH&ca=PATH", opens(etcdlease.Open)},
	{"postgres", "postgres://user@host:5432/database?password-file=PATH&sslmode=verify-full", opens(pglease.Open)},
	{"kubernetes", "kubernetes://namespace/prefix?server=https://HOST&token-file=PATH&ca=PATH", opens(kubelease.Open)},
	{"consul", "consul://host:8500/prefix?token-file=PATH", opens(consullease.Open)},
	{"nats", "nats://user@host:4222,host2:4222/bucket?password-file=PATH", opens(natslease.Open)},
	{"redis", "redis://user@host:6379/0?password-file=PATH", opens(redislease.Open)},
	{"rediss", "rediss://user@host:6379/0?password-file=PATH", opens(redislease.Open)},
}

// opens makes an open of a package's Open.
func opens[S driver.Store](open func(context.Context, string) (S, error)) func(context.Context, string) (driver.Store, error) {
	return func(ctx context.Context, address string) (driver.Store, error) {
		s, err := open(ctx, address)
		if err != nil {
			return nil, err // and no S in an interface, which would not be nil
		}
		return s, nil
	}
}

// openStore opens the store of an address.
func openStore(ctx context.Context, address string) (driver.Store, error) {
	k, err := kindOf(address)
	if err != nil {
		return nil, err
	}
	return k.open(ctx, address)
}

// kindOf returns the kind of store whose address it is.
func kindOf(addr string) (kind, error) {
	a, err := address.Parse(addr)
	if err != nil {
		return kind{}, err
	}
	for _, k := range kinds {
		if k.scheme == a.Scheme {
			return k, nil
		}
	}
	return kind{}, fmt.Errorf("%w: there is no kind %s://, only %s", address.ErrAddress, a.Scheme, list(schemes(), "and"))
}

// schemes returns how the addresses of all kinds begin.
func schemes() []string {
	var all []string
	for _, k := range kinds {
		all = append(all, k.scheme+"://")
	}
	return all
}

// forms lists what addresses look like.
func forms() string {
	var lines string
	for _, k := range kinds {
		lines += "  " + k.form + "\n"
	}
	return lines
}

func openFile(_ context.Context, addr string) (driver.Store, error) {
	dir, err := dirOf(addr)
	if err != nil {
		return nil, err
	}
	return leased.Embedded(dir)
}

// dirOf returns the directory that an address of files is about.
func dirOf(addr string) (string, error) {
	a, err := address.Parse(addr)
	if err == nil {
		err = a.Err()
	}
	if err == nil && (len(a.Hosts) > 0 || a.User != "" || a.Path == "") {
		err = fmt.Errorf("%w of the kind file://: want an absolute path after it, as in file:///var/lib/firn", address.ErrAddress)
	}
	if err != nil {
		return "", err
	}
	return filepath.FromSlash("/" + a.Path), nil
}

// storeVariable is the environment's word for --store.
const storeVariable = "FIRN_STORE"

// A storeAddress is a flag's value that is the address of a store. It may have a secret in it, and so
// is shown to nobody: what is wrong with it is said later, in other words than a flag's value is.
type storeAddress string

var _ pflag.Value = (*storeAddress)(nil)

func (a *storeAddress) Type() string       { return "ADDRESS" }
func (a *storeAddress) String() string     { return "" }
func (a *storeAddress) Set(s string) error { *a = storeAddress(s); return nil }

// badAddress returns the error for an address in the words of the command line, if it is one: as
// wrong usage, with what is wrong and no more.
func badAddress(name string, err error) error {
	if !errors.Is(err, address.ErrAddress) {
		return err
	}
	for { // to where it says so itself
		var inner error
		switch e := err.(type) {
		case interface{ Unwrap() error }:
			inner = e.Unwrap()
		case interface{ Unwrap() []error }:
			for _, i := range e.Unwrap() {
				if errors.Is(i, address.ErrAddress) {
					inner = i
				}
			}
		}
		if inner == nil || inner == address.ErrAddress {
			return usagef("%s: %w", name, err)
		}
		err = inner
	}
}

// completeStore completes how an address begins, and the directories of one of files.
func completeStore(_ *cobra.Command, _ []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	const directive = cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
	var found []string
	if path, ok := strings.CutPrefix(toComplete, "file://"); ok && strings.HasPrefix(path, "/") {
		above := path[:strings.LastIndexByte(path, '/')+1]
		inside, _ := os.ReadDir(above)
		for _, e := range inside {
			if full := above + e.Name(); e.IsDir() && strings.HasPrefix(full, path) && !strings.HasPrefix(e.Name(), ".") {
				found = append(found, "file://"+full)
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
