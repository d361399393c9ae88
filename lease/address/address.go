// Package address reads the addresses of stores, which are URLs of one form:
//
//	scheme://user@host:port,host2:port/path?setting=value
//
// An absolute path is the address of the store of files there (driver.SplitAddress).
//
// Keep secrets out of addresses: for every secret NAME there are the settings NAME-file=PATH, the
// file with the secret, and NAME-env=VARIABLE. If an address does contain a secret, no error of
// this package and no String shows the secret.
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

	"github.com/firn-id/firn/lease/driver"
)

// An Address is an address that Parse has read. A store takes the settings one by one, by the
// methods below, which note mistakes. Err then returns the first mistake. A setting that the store
// did not take is a mistake too.
type Address struct {
	Scheme string   // in lower case; of postgresql://, it is postgres
	Hosts  []string // as written, each host or host:port
	Path   string   // without the first slash
	User   string

	password string
	set      url.Values
	taken    []string
	err      error
	alone    bool
}

// Parse reads an address.
func Parse(s string) (*Address, error) { return parse(s, false) }

// ParseAlone is Parse for programs that check an address far from the files and variables that the
// address names. Secret and TLS check their settings, but read no files and no variables: Secret
// returns [Withheld] instead of a secret, and TLS returns a configuration without certificates.
func ParseAlone(s string) (*Address, error) { return parse(s, true) }

// Withheld stands for the secrets of an address that ParseAlone has read.
const Withheld = "withheld"

// Alone reports whether ParseAlone has read the address. Such an address may lack its secrets, which
// are elsewhere.
func (a *Address) Alone() bool { return a.alone }

func parse(s string, alone bool) (*Address, error) {
	scheme, rest, err := driver.SplitAddress(s)
	if err != nil {
		return nil, err
	}
	a := &Address{Scheme: scheme, alone: alone}
	rest, fragment, _ := strings.Cut(rest, "#")
	if fragment != "" {
		return nil, a.bad("it has a fragment (#…): write %%23 for a # that belongs to it")
	}
	rest, query, _ := strings.Cut(rest, "?")
	authority, path, _ := strings.Cut(rest, "/")
	if a.Path, err = url.PathUnescape(path); err != nil {
		return nil, a.bad("its path has a %% that begins no escape")
	}
	if err := driver.CheckPath(a.Path); err != nil {
		return nil, err
	}
	if a.set, err = url.ParseQuery(query); err != nil { // err may show a secret
		return nil, a.bad("its settings, after the ?, are not name=value&…")
	}
	if !strings.Contains(authority, "@") && strings.Contains(authority, ":") && path == "" && strings.Contains(query, "@") {
		return nil, a.bad("it has an @ after the ?: write %%3F for a ? in a user or a password, and %%40 for an @ in a setting")
	}
	for name, values := range a.set {
		if strings.ContainsFunc(name, notName) { // the end of a password with a ?, perhaps
			return nil, a.bad("it has a setting, after the ?, without a valid name: write %%3F for a ? before the settings")
		}
		if len(values) > 1 {
			return nil, a.bad("%s is set twice", name)
		}
		if err := driver.CheckPlace(values[0]); err != nil && !isSecret(name) {
			return nil, err
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
		if err := driver.CheckPlace(a.User); err != nil {
			return nil, err
		}
	}
	if authority == "" {
		if scheme != "file" && strings.Contains(a.Path, "@") { // postgres:///user:password@db/ids
			return nil, a.bad("it has no host, and an @ in its path: write two slashes before a user")
		}
		return a, nil
	}
	for host := range strings.SplitSeq(authority, ",") {
		switch {
		case isHost(host):
		case i < 0: // perhaps a user and a password with a /
			return nil, a.bad("the part before its path is not a host, or host:port: write %%2F for a / in a user or a password")
		default:
			return nil, a.bad("%q is not a host, or host:port", host)
		}
		a.Hosts = append(a.Hosts, host)
	}
	return a, nil
}

// WithHosts returns the address with other hosts, for example of proxies. All else stays, secrets
// too.
func WithHosts(s string, hosts []string) string {
	scheme, rest, _ := strings.Cut(s, "://")
	end := len(rest)
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		end = i
	}
	user := strings.LastIndexByte(rest[:end], '@') + 1
	return scheme + "://" + rest[:user] + strings.Join(hosts, ",") + rest[end:]
}

// WithSetting returns the address with another value of a setting. All else stays, secrets too.
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
	return fmt.Errorf("%w of the kind %s://: %s", driver.ErrAddress, a.Scheme, fmt.Sprintf(form, args...))
}

func (a *Address) fail(form string, args ...any) {
	if a.err == nil {
		a.err = a.bad(form, args...)
	}
}

// Endpoints returns the hosts, and adds the port to hosts without a port. Without any host,
// Endpoints returns fallback with the port.
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

// take returns the value of a setting.
func (a *Address) take(name string) (string, bool) {
	if !slices.Contains(a.taken, name) {
		a.taken = append(a.taken, name)
	}
	return a.set.Get(name), a.set.Has(name)
}

// Text returns a setting, or else the default.
func (a *Address) Text(name, or string) string {
	if v, ok := a.take(name); ok {
		return v
	}
	return or
}

// Duration returns a positive duration such as 500ms, or else the default.
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

// Number returns a number in the range least to most, or else the default.
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

// Bool returns a setting that is true or false, or else the default.
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

// Secret returns a secret. The setting name-file names a file with the secret, whose final line
// break does not count. The setting name-env names a variable, and the setting name has the secret
// itself. A password can also stand after the user.
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
	case a.alone:
		if inFile || inEnv || value != "" {
			value = Withheld
		}
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

// TLS returns the TLS configuration of the settings tls (true or false), ca, cert and key (files in
// PEM) and server-name. Nil means no TLS. Each of the other settings implies tls=true.
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
	if a.alone {
		return c
	}
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

// Err returns the first mistake. If there is no other mistake, Err reports settings not taken.
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

// AtFault reports whether a connection failed because of what the address says: a host that no name server knows, or
// settings of TLS that don't fit the server. Some clients pass on only the text of the reason.
func AtFault(err error) bool {
	text := err.Error()
	return errors.As(err, new(*net.DNSError)) || strings.Contains(text, "tls: ") || strings.Contains(text, "x509: ") ||
		strings.Contains(text, "no such host")
}

// Secrets reports whether the address may contain a secret: a password after the user, or a setting
// with the name of a secret.
func (a *Address) Secrets() bool {
	for name := range a.set {
		if isSecret(name) {
			return true
		}
	}
	return a.password != ""
}

func isSecret(name string) bool {
	name = strings.ToLower(name)
	return strings.HasSuffix(name, "password") || strings.HasSuffix(name, "token") || strings.HasSuffix(name, "secret")
}

// String returns the scheme, the hosts and the path, without settings, user and secrets.
func (a *Address) String() string {
	u := url.URL{Path: "/" + a.Path}
	if a.Path == "" {
		u.Path = ""
	}
	return a.Scheme + "://" + strings.Join(a.Hosts, ",") + u.EscapedPath()
}
