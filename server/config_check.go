package server

import (
	"cmp"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"
)

// Check returns an error for a Config that no server takes. Check opens and reads nothing. All errors are a
// *[ConfigError].
func (c *Config) Check() error {
	_, err := c.check()
	return err
}

// check is Check, and returns the generators.
func (c *Config) check() (generators, error) {
	for _, check := range []func() error{c.checkAddresses, c.checkTLS, c.checkHosts, c.checkLimits} {
		if err := check(); err != nil {
			return generators{}, err
		}
	}
	return c.generators()
}

// checkAddresses checks where the server listens.
func (c *Config) checkAddresses() error {
	listen := c.withDefaults().Listen
	for i, a := range listen {
		if err := c.checkAddress("listen", a); err != nil {
			return err
		}
		if same(a, listen[:i]) {
			return c.errorf("listen", "%s is given twice: leave out one of the two", a)
		}
	}
	if c.RESP != "" {
		if err := c.checkAddress("resp", c.RESP); err != nil {
			return err
		}
		if same(c.RESP, listen) {
			return c.errorf("resp", "%s is an address of listen, which speaks RESP already: leave out resp, or give it another port", c.RESP)
		}
	}
	most := len(syscall.RawSockaddrUnix{}.Path) - 1
	switch {
	case len(c.Unix) > most:
		return c.errorf("unix", "has %d bytes: the path of a socket has at most %d here: use a shorter path", len(c.Unix), most)
	case strings.ContainsRune(c.Unix, 0):
		return c.errorf("unix", "has a byte 0: want the path of a socket")
	case len(listen) == 0 && c.RESP == "" && c.Unix == "":
		return c.errorf("listen", "is empty, and so are resp and unix: name an address, as in listen = [%q]", DefaultListen)
	}
	return nil
}

// same reports whether an address is in a list. Port 0 is another port each time.
func same(address string, list []string) bool {
	return !strings.HasSuffix(address, ":0") && slices.Contains(list, address)
}

// checkAddress checks an address of a setting.
func (c *Config) checkAddress(key, address string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return c.errorf(key, "%q is no address: want host:port, as in %s", clip(address), DefaultListen)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || strconv.FormatUint(n, 10) != port {
		return c.errorf(key, "%q has no port from 0 to 65535: want host:port, as in %s", clip(address), DefaultListen)
	}
	if host != "" && !isAddress(host) && !isName(host) {
		return c.errorf(key, "%q has no host: want an IP address or a name before the port, as in %s", clip(address), DefaultListen)
	}
	if !loopback(host) && c.TLS.Cert == "" && !c.Insecure {
		return c.errorf(key, "other machines reach %s, and the server has no TLS: add %s, or listen on a loopback address, "+
			"or add %s if a proxy or the network keeps strangers out", address,
			c.given("--tls-cert FILE and --tls-key FILE", "cert and key to [tls]"), c.given("--insecure", "insecure = true"))
	}
	return nil
}

// loopback reports whether only programs of the machine reach a host.
func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

func isAddress(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}

// isName reports whether a host may be a name of DNS.
func isName(host string) bool {
	const longest = 253
	for label := range strings.SplitSeq(strings.TrimSuffix(host, "."), ".") {
		if label == "" || len(label) > 63 || strings.Trim(label, "-") != label {
			return false
		}
	}
	letter := func(r rune) bool {
		return r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)) || strings.ContainsRune("-._", r)
	}
	return len(host) <= longest && !strings.ContainsFunc(host, func(r rune) bool { return !letter(r) })
}

// given returns how people give settings: by flags of firn serve, or in the file of the Config.
func (c *Config) given(flags, settings string) string {
	if c.file != nil {
		return settings
	}
	return flags
}

func (c *Config) checkTLS() error {
	switch t := c.TLS; {
	case t.Cert != "" && t.Key == "":
		return c.errorf("tls.cert", "has no key beside it: add %s, the private key of the certificate", c.given("--tls-key FILE", "key to [tls]"))
	case t.Key != "" && t.Cert == "":
		return c.errorf("tls.key", "has no certificate beside it: add %s, the certificate of the key", c.given("--tls-cert FILE", "cert to [tls]"))
	case t.CA != "" && t.Cert == "":
		return c.errorf("tls.ca", "needs a certificate of the server: add %s", c.given("--tls-cert FILE and --tls-key FILE", "cert and key to [tls]"))
	}
	return nil
}

func (c *Config) checkHosts() error {
	for i, h := range c.Hosts {
		switch _, _, err := net.SplitHostPort(h); {
		case isAddress(h):
		case err == nil && !strings.Contains(h, "/"):
			return c.errorf("hosts", "%q has a port: leave out the port", clip(h))
		case !isName(h):
			return c.errorf("hosts", "%q is no name: want a name without scheme, port and path, as in ids.example.com", clip(h))
		}
		if slices.ContainsFunc(c.Hosts[:i], func(before string) bool { return strings.EqualFold(before, h) }) {
			return c.errorf("hosts", "%q is given twice: leave out one of the two", clip(h))
		}
	}
	return nil
}

func (c *Config) checkLimits() error {
	d := c.withDefaults()
	return cmp.Or(
		checkRange(c, "limits.ids", d.Limits.IDs, 1000, 1_000_000),
		checkRange(c, "limits.connections", d.Limits.Connections, 1, 1_000_000),
		checkRange(c, "limits.wait", d.Limits.Wait, time.Millisecond, time.Minute),
		checkRange(c, "lease.window", d.Lease.Window, 100*time.Millisecond, time.Hour),
		checkRange(c, "drain", d.Drain, time.Millisecond, 10*time.Minute),
	)
}

func checkRange[T int | time.Duration](c *Config, key string, v, least, most T) error {
	if v < least || v > most {
		return c.errorf(key, "%v is not in %v to %v", v, least, most)
	}
	return nil
}

// clip shortens a text for an error.
func clip(s string) string {
	const most = 100
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
