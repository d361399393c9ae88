// Package address reads the addresses of stores, which are URLs of one form:
//
//	scheme://user@host:port,host2:port/path?setting=value
//
// What must not be seen is best kept out of an address: every secret NAME can be given as
// NAME-file=PATH, the file that holds it, or NAME-env=VARIABLE. A secret that is written into an address is used, and never
// shown again: no error of this package and no String has it.
package address

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ErrAddress is what every error of this package is, to [errors.Is].
var ErrAddress = errors.New("invalid address of a store")

// An Address is one that was read. A store takes its settings one by one, by the methods
// below, which note what is wrong; Err then returns the first of it, and also says which
// settings nobody took.
type Address struct {
	Scheme string   // in lower case
	Hosts  []string // as written, each host or host:port; none if there is no host
	Path   string   // without the first slash
	User   string

	password string
	set      url.Values
	taken    []string
	err      error
}

// Parse reads an address.
func Parse(s string) (*Address, error) {
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok || scheme == "" || strings.ContainsFunc(scheme, notScheme) {
		return nil, fmt.Errorf("%w: want scheme://…, as in file:///var/lib/firn", ErrAddress)
	}
	a := &Address{Scheme: strings.ToLower(scheme)}
	rest, fragment, _ := strings.Cut(rest, "#")
	if fragment != "" {
		return nil, a.bad("it has a fragment (#…): write %%23 for a # that belongs to it")
	}
	rest, query, _ := strings.Cut(rest, "?")
	authority, path, _ := strings.Cut(rest, "/")
	var err error
	if a.Path, err = url.PathUnescape(path); err != nil {
		return nil, a.bad("its path has a %% that begins no escape")
	}
	if a.set, err = url.ParseQuery(query); err != nil { // whose error may show a secret
		return nil, a.bad("its settings, after the ?, are not name=value&…")
	}
	if !strings.Contains(authority, "@") && strings.Contains(authority, ":") && path == "" && strings.Contains(query, "@") {
		return nil, a.bad("it has an @ after the ?: write %%3F for a ? in a user or a password, and %%40 for an @ in a setting")
	}
	for name, values := range a.set {
		if strings.ContainsFunc(name, notName) { // a password with a ? in it comes to be here
			return nil, a.bad("it has a setting, after the ?, whose name is none: write %%3F for a ? that belongs to what is before")
		}
		if len(values) > 1 {
			return nil, a.bad("%s is set twice", name)
		}
	}
	i := strings.LastIndexByte(authority, '@')
	if i >= 0 {
		user, password, _ := strings.Cut(authority[:i], ":")
		authority = authority[i+1:]
		a.User, err = url.PathUnescape(user)
		if err == nil {
			a.password, err = url.PathUnescape(password)
		}
		if err != nil {
			return nil, a.bad("its user or password has a %% that begins no escape")
		}
	}
	if authority == "" {
		return a, nil
	}
	for host := range strings.SplitSeq(authority, ",") {
		switch {
		case isHost(host):
		case i < 0: // it may be a user and a password with a / in it
			return nil, a.bad("what comes before its path is not a host, or host:port: write %%2F for a / in a user or a password")
		default:
			return nil, a.bad("%q is not a host, or host:port", host)
		}
		a.Hosts = append(a.Hosts, host)
	}
	return a, nil
}

// WithHosts returns an address that Parse reads with other hosts, those of proxies, say, in place of its own, and all
// else as it was, secrets too.
func WithHosts(s string, hosts []string) string {
	scheme, rest, _ := strings.Cut(s, "://")
	end := len(rest)
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		end = i
	}
	user := strings.LastIndexByte(rest[:end], '@') + 1
	return scheme + "://" + rest[:user] + strings.Join(hosts, ",") + rest[end:]
}

// WithSetting returns an address that Parse reads with that value of a setting, and all else as it was, secrets too.
func WithSetting(s, name, value string) string {
	s, fragment, marked := strings.Cut(s, "#")
	s, query, _ := strings.Cut(s, "?")
	setting := name + "=" + url.QueryEscape(value)
	settings := slices.DeleteFunc(strings.Split(query, "&"), func(pair string) bool {
		escaped, _, _ := strings.Cut(pair, "=")
		is, err := url.QueryUnescape(escaped)
		return pair == "" || err == nil && is == name
	})
	s += "?" + strings.Join(append(settings, setting), "&")
	if marked {
		s += "#" + fragment
	}
	return s
}

func notScheme(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '+' && r != '-'
}

func notName(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_.", r)
}

func isHost(s string) bool {
	host := s
	if h, port, err := net.SplitHostPort(s); err == nil {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return false
		}
		host = h
	} else if strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]") {
		host = s[1 : len(s)-1]
	} else if strings.Contains(s, ":") {
		return false
	}
	return host != "" && !strings.ContainsFunc(host, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`/\"'<>@`, r) })
}

func (a *Address) bad(form string, args ...any) error {
	return fmt.Errorf("%w of the kind %s://: %s", ErrAddress, a.Scheme, fmt.Sprintf(form, args...))
}

func (a *Address) fail(form string, args ...any) {
	if a.err == nil {
		a.err = a.bad(form, args...)
	}
}

// Endpoints returns the hosts with the port for those that have none, and fallback where there
// is no host.
func (a *Address) Endpoints(port, fallback string) []string {
	hosts := a.Hosts
	if len(hosts) == 0 {
		hosts = []string{fallback}
	}
	all := make([]string, len(hosts))
	for i, host := range hosts {
		if _, _, err := net.SplitHostPort(host); err != nil {
			host = net.JoinHostPort(strings.Trim(host, "[]"), port)
		}
		all[i] = host
	}
	return all
}

// take returns a setting's value.
func (a *Address) take(name string) (string, bool) {
	if !slices.Contains(a.taken, name) {
		a.taken = append(a.taken, name)
	}
	return a.set.Get(name), a.set.Has(name)
}

// Text returns a setting, or the default.
func (a *Address) Text(name, or string) string {
	if v, ok := a.take(name); ok {
		return v
	}
	return or
}

// Duration returns a setting such as 500ms, which is to be positive, or the default.
func (a *Address) Duration(name string, or time.Duration) time.Duration {
	v, ok := a.take(name)
	if !ok {
		return or
	}
	d, err := time.ParseDuration(v)
	if err != nil || d <= 0 {
		a.fail("%s=%s is not a positive duration, such as 500ms", name, v)
	}
	return d
}

// Number returns a setting in least to most, or the default.
func (a *Address) Number(name string, or, least, most int) int {
	v, ok := a.take(name)
	if !ok {
		return or
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < least || n > most {
		a.fail("%s=%s is not a number in %d to %d", name, v, least, most)
	}
	return n
}

// Bool returns a setting that is true or false, or the default.
func (a *Address) Bool(name string, or bool) bool {
	v, ok := a.take(name)
	switch {
	case !ok:
		return or
	case v != "true" && v != "false":
		a.fail("%s=%s is neither true nor false", name, v)
	}
	return v == "true"
}

// Secret returns a secret: of the setting name-file, the content of that file without the
// line's end; of name-env, the value of that variable; of name itself; or, if it is the
// password, what stands after the user.
func (a *Address) Secret(name string) string {
	file, inFile := a.take(name + "-file")
	variable, inEnv := a.take(name + "-env")
	value, given := a.take(name)
	if name == "password" && a.password != "" {
		if given {
			a.fail("there are two passwords")
		}
		value, given = a.password, true
	}
	if inFile && inEnv || inFile && given || inEnv && given {
		a.fail("there is more than one of %s, %[1]s-file and %[1]s-env", name)
		return ""
	}
	switch {
	case inFile:
		content, err := os.ReadFile(file)
		if err != nil {
			a.fail("%s-file: %v", name, err)
		}
		value = strings.TrimRight(string(content), "\r\n")
	case inEnv:
		var ok bool
		if value, ok = os.LookupEnv(variable); !ok {
			a.fail("%s-env: the environment has no %s", name, variable)
		}
	}
	return value
}

// TLS returns how to connect by the settings tls (true or false), ca, cert and key (files
// in PEM) and server-name; nil means without TLS. Any of the others asks for it, too.
func (a *Address) TLS() *tls.Config {
	ca, cert, key, server := a.Text("ca", ""), a.Text("cert", ""), a.Text("key", ""), a.Text("server-name", "")
	some := ca+cert+key+server != ""
	if !a.Bool("tls", some) {
		if some {
			a.fail("tls=false goes without ca, cert, key and server-name")
		}
		return nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: server}
	if ca != "" {
		pem, err := os.ReadFile(ca)
		if err != nil {
			a.fail("ca: %v", err)
		} else if c.RootCAs = x509.NewCertPool(); !c.RootCAs.AppendCertsFromPEM(pem) {
			a.fail("ca: %s holds no certificate in PEM", ca)
		}
	}
	if cert+key != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			a.fail("cert and key: %v", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c
}

// Rest returns the settings that nobody took, and takes them.
func (a *Address) Rest() url.Values {
	rest := make(url.Values)
	for name, values := range a.set {
		if !slices.Contains(a.taken, name) {
			rest[name] = values
		}
	}
	for name := range rest {
		a.taken = append(a.taken, name)
	}
	return rest
}

// Err returns the first thing that is wrong, and that is a setting that nobody took if
// nothing else is.
func (a *Address) Err() error {
	if a.err != nil {
		return a.err
	}
	var foreign []string
	for name := range a.set {
		if !slices.Contains(a.taken, name) {
			foreign = append(foreign, name)
		}
	}
	if len(foreign) == 0 {
		return nil
	}
	slices.Sort(foreign)
	slices.Sort(a.taken)
	return a.bad("it has no setting %s, only %s", strings.Join(foreign, ", "), strings.Join(a.taken, ", "))
}

// Secrets reports whether a secret is written into the address, or may be: a password after the user,
// or a setting that has a secret's name.
func (a *Address) Secrets() bool {
	for name := range a.set {
		name = strings.ToLower(name)
		if strings.HasSuffix(name, "password") || strings.HasSuffix(name, "token") || strings.HasSuffix(name, "secret") {
			return true
		}
	}
	return a.password != ""
}

// String returns the scheme, the hosts and the path: which store it is. There are no settings
// in it, no user and no secret.
func (a *Address) String() string {
	u := url.URL{Path: "/" + a.Path}
	if a.Path == "" {
		u.Path = ""
	}
	return a.Scheme + "://" + strings.Join(a.Hosts, ",") + u.EscapedPath()
}
