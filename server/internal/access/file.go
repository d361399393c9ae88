package access

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/server/internal/settings"
)

// file is the form of a file of tokens.
type file struct {
	Tokens map[string]fileToken `toml:"tokens"`
}

type fileToken struct {
	Token      string   `toml:"token"`
	SHA256     string   `toml:"sha256"`
	Generators []string `toml:"generators"`
	Rate       *int     `toml:"rate"`
	Read       *bool    `toml:"read"`
}

// readFile reads a file of tokens.
func readFile(path string) (list []token, err error) {
	var f file
	read, err := settings.Read(path, &f, func(info fs.FileInfo) error {
		if others(info) {
			return othersError(path, info.Mode().Perm())
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	names := map[[sha256.Size]byte]string{}
	for _, name := range slices.Sorted(maps.Keys(f.Tokens)) {
		t, err := tokenOf(read, name, f.Tokens[name])
		if err != nil {
			return nil, err
		}
		if other, ok := names[t.sum]; ok {
			return nil, read.Errorf([]string{"tokens", name}, "has the token of %s: give each client its own token", other)
		}
		names[t.sum] = name
		list = append(list, t)
	}
	return list, nil
}

// least is the length of the shortest token, in bytes. Clients may try tokens as fast as they can.
const least = 16

// tokenOf returns a token of the file.
func tokenOf(f *settings.File, name string, v fileToken) (token, error) {
	t := token{name: name, generators: v.Generators, read: v.Read == nil || *v.Read}
	path := []string{"tokens", name}
	bad := func(setting, format string, args ...any) (token, error) {
		return t, f.Errorf(append(slices.Clip(path), setting), format, args...)
	}
	if driver.CheckName(strings.ToLower(name)) != nil {
		return t, f.Errorf(path, "is no name of a token: want 1 to %d letters, digits, '.', '_', '@' and '-'", driver.MaxName)
	}
	odd := func(r rune) bool { return r <= ' ' || r > '~' }
	switch s := v.Token; {
	case s != "" && v.SHA256 != "":
		return bad("sha256", "stands beside token: leave out one of the two")
	case s == "" && v.SHA256 == "":
		return t, f.Errorf(path, "has no token: want token = \"…\", for example from openssl rand -hex 32, "+
			"or sha256 = \"…\", its SHA-256")
	case s != "" && len(s) < least:
		return bad("token", "has %d bytes: want %d or more, for example from openssl rand -hex 32", len(s), least)
	case s != "" && (len(s) > longest || strings.ContainsFunc(s, odd)):
		return bad("token", "is no token: want at most %d letters, digits and signs of ASCII, without spaces", longest)
	case s != "":
		t.sum = sha256.Sum256([]byte(s))
	default:
		sum, err := hex.DecodeString(v.SHA256)
		if err != nil || len(sum) != len(t.sum) {
			return bad("sha256", "is no SHA-256: want %d digits of hexadecimal, as "+
				"printf %%s TOKEN | sha256sum | cut -c1-64 prints", 2*len(t.sum))
		}
		t.sum = [sha256.Size]byte(sum)
	}
	if v.Rate != nil {
		if t.rate = *v.Rate; t.rate < 1 {
			return bad("rate", "%d is not 1 or more: want IDs a second, or leave out rate for no limit", t.rate)
		}
	}
	for _, p := range v.Generators {
		if start := strings.TrimSuffix(p, "*"); p == "" || strings.Contains(start, "*") {
			return bad("generators", "%q is no pattern: want the name of a generator, or a '*' at the end, as in order*", p)
		}
	}
	return t, nil
}
