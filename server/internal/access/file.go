package access

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"

	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/server/internal/strict"
)

// file is the form of a file of tokens.
type file struct {
	Tokens map[string]fileToken `toml:"tokens"`
}

type fileToken struct {
	Token      strict.Value[string]   `toml:"token"`
	SHA256     strict.Value[string]   `toml:"sha256"`
	Generators strict.Value[[]string] `toml:"generators"`
	Rate       strict.Value[int]      `toml:"rate"`
	Read       strict.Value[bool]     `toml:"read"`
}

// readFile reads a file of tokens, and returns the SHA-256 of the content beside.
func readFile(path string) (list []token, sum [sha256.Size]byte, err error) {
	data, err := strict.Read(path, func(info os.FileInfo) error {
		if others(info) {
			return othersError(path, info.Mode().Perm())
		}
		return nil
	})
	if err != nil {
		return nil, sum, err
	}
	var f file
	read, err := strict.Decode(path, data, &f)
	if err != nil {
		return nil, sum, err
	}
	names := map[[sha256.Size]byte]string{}
	for _, name := range sorted(f.Tokens) {
		t, err := tokenOf(read, name, f.Tokens[name])
		if err != nil {
			return nil, sum, err
		}
		if other, ok := names[t.sum]; ok {
			return nil, sum, read.Errorf("tokens."+name, "has the token of %s: give each client its own token", other)
		}
		names[t.sum] = name
		list = append(list, t)
	}
	return list, sha256.Sum256(data), nil
}

// least is the length of the shortest token, in bytes. Clients may try tokens as fast as they can.
const least = 16

// tokenOf returns a token of the file.
func tokenOf(f *strict.File, name string, v fileToken) (token, error) {
	t := token{name: name, read: v.Read.V || !v.Read.Given, rate: v.Rate.V}
	key := "tokens." + name
	if driver.CheckKey(strings.ToLower(name)) != nil || strings.Contains(name, "/") {
		return t, f.Errorf(key, "is no name of a token: want 1 to %d letters, digits, '.', '_', '@' and '-'", driver.MaxName)
	}
	odd := func(r rune) bool { return r <= ' ' || r > '~' }
	switch s := v.Token.V; {
	case v.Token.Given && v.SHA256.Given:
		return t, f.Errorf(key+".sha256", "stands beside token: leave out one of the two")
	case !v.Token.Given && !v.SHA256.Given:
		return t, f.Errorf(key, "has no token: want token = \"…\", for example from openssl rand -hex 32, or sha256 = \"…\", its SHA-256")
	case v.Token.Given && len(s) < least:
		return t, f.Errorf(key+".token", "has %d bytes: want %d or more, for example from openssl rand -hex 32", len(s), least)
	case v.Token.Given && (len(s) > longest || strings.ContainsFunc(s, odd)):
		return t, f.Errorf(key+".token", "is no token: want at most %d letters, digits and signs of ASCII, without spaces", longest)
	case v.Token.Given:
		t.sum = sha256.Sum256([]byte(s))
	default:
		sum, err := hex.DecodeString(v.SHA256.V)
		if err != nil || len(sum) != len(t.sum) {
			return t, f.Errorf(key+".sha256", "is no SHA-256: want %d digits of hexadecimal, as printf %%s TOKEN | sha256sum | cut -c1-64 prints", 2*len(t.sum))
		}
		t.sum = [sha256.Size]byte(sum)
	}
	if v.Rate.Given && v.Rate.V < 1 {
		return t, f.Errorf(key+".rate", "%d is not 1 or more: want IDs a second, or leave out rate for no limit", v.Rate.V)
	}
	if v.Generators.Given {
		t.generators = v.Generators.V
		for _, p := range t.generators {
			if start := strings.TrimSuffix(p, "*"); p == "" || strings.Contains(start, "*") {
				return t, f.Errorf(key+".generators", "%q is no pattern: want the name of a generator, or a '*' at the end, as in order*", p)
			}
		}
	}
	return t, nil
}
