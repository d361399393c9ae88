package consullease_test

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/testing/advice"
	"github.com/firn-id/firn/internal/testing/consultest"
	"github.com/firn-id/firn/internal/testing/loopback"
	"github.com/firn-id/firn/internal/testing/pretend"
	"github.com/firn-id/firn/internal/testing/storetest"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/internal/testing/wait"
)

// A secured is a server with TLS, whose configuration can change.
type secured struct {
	addr   string
	ca     string // the file
	config atomic.Pointer[tls.Config]
	strict atomic.Bool // refuses names that it does not serve
}

// secure serves with TLS and a certificate of 127.0.0.1 that is valid until a time.
func secure(t *testing.T, end time.Time) *secured {
	t.Helper()
	s := &secured{}
	s.certify(t, end)
	web := httptest.NewUnstartedServer(consultest.New())
	web.Config.ErrorLog = log.New(io.Discard, "", 0)
	web.TLS = &tls.Config{GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		if s.strict.Load() && hello.ServerName != "" {
			return &tls.Config{}, nil // without a certificate, the server says that the name is unrecognized
		}
		return s.config.Load(), nil
	}}
	web.StartTLS()
	t.Cleanup(web.Close)
	s.addr = "consul://" + web.Listener.Addr().String() + "/p"
	return s
}

// certify gives the server another certificate.
func (s *secured) certify(t *testing.T, end time.Time) {
	t.Helper()
	cert, key := storetest.CertifyUntil(t, end)
	s.ca = cert
	s.config.Store(&tls.Config{Certificates: []tls.Certificate{testkit.Must(tls.LoadX509KeyPair(cert, key))}})
}

// trusting names the variable with the address that a child of TestAdvice uses.
const trusting = "FIRN_TEST_TRUSTING"

// trusted uses the store in a process of its own, whose system trusts the authority of the server: a process
// reads once which authorities the system trusts. Windows and macOS take no authorities from the environment.
func (s *secured) trusted(t *testing.T, settings ...string) error {
	t.Helper()
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		return nil
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestAdvice$")
	cmd.Env = append(os.Environ(), trusting+"="+storetest.With(s.addr, settings...), "SSL_CERT_FILE="+s.ca)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// later is the end of a certificate that is valid.
func later() time.Time { return time.Now().Add(time.Hour) }

// certificates are faults of TLS.
func certificates() []advice.Fault {
	var server *secured
	fresh := func(end func() time.Time, settings ...string) func(*testing.T) string {
		return func(t *testing.T) string {
			server = secure(t, end())
			return advice.Text(t, use(t, storetest.With(server.addr, append(settings, "ca="+server.ca)...)))
		}
	}
	again := func(settings ...string) func(*testing.T) error {
		return func(t *testing.T) error {
			return use(t, storetest.With(server.addr, append(settings, "ca="+server.ca)...))
		}
	}
	trusted := func(t *testing.T) error { return server.trusted(t, "tls=true") }
	return []advice.Fault{
		{Name: "no TLS", Meet: func(t *testing.T) string {
			server = secure(t, later())
			return advice.Text(t, use(t, server.addr))
		}, Ways: advice.Ways{"set tls=true": trusted, "or ca": again()}},
		{Name: "an unknown authority", Meet: func(t *testing.T) string {
			server = secure(t, later())
			return advice.Text(t, use(t, server.addr+"?tls=true"))
		}, Ways: advice.Ways{"give the file of the authority that has signed the server's certificate: ca": again()}},
		{Name: "an expired certificate", Meet: fresh(func() time.Time { return time.Now().Add(-time.Hour) }), Ways: advice.Ways{
			"look at the server's certificate": func(t *testing.T) error {
				server.certify(t, later())
				return again()(t)
			},
		}},
		{Name: "another name", Meet: fresh(later, "server-name=consul.example"), Ways: advice.Ways{
			"look at the server's certificate, and at ca and server-name": again("server-name=127.0.0.1"),
		}},
		{Name: "a name that the server does not serve", Meet: func(t *testing.T) string {
			server = secure(t, later())
			server.strict.Store(true)
			return advice.Text(t, use(t, server.addr+"?server-name=consul.example&ca="+server.ca))
		}, Ways: advice.Ways{"look at the server's certificate, and at ca and server-name": again()}},
		clientCertificate(),
		{Name: "a server without TLS", Meet: func(t *testing.T) string {
			server = &secured{addr: start(t, consultest.New())}
			cert, _ := storetest.Certify(t)
			return advice.Text(t, use(t, server.addr+"?tls=true&ca="+cert))
		}, Ways: advice.Ways{"leave out tls, ca, cert, key and server-name": func(t *testing.T) error { return use(t, server.addr) }}},
		{Name: "something that does not speak HTTP", Meet: func(t *testing.T) string {
			server = secure(t, later())
			front := alerting(t, strings.Split(server.addr, "/")[2])
			server.addr = "consul://" + front + "/p"
			return advice.Text(t, use(t, server.addr))
		}, Ways: advice.Ways{
			"see that Consul listens there": func(t *testing.T) error { return use(t, start(t, consultest.New())) },
			"set tls=true":                  trusted,
			"or ca":                         again(),
		}},
	}
}

// clientCertificate is a server that wants a certificate of its clients.
func clientCertificate() advice.Fault {
	var server *secured
	var cert, key string
	with := func(t *testing.T, cert, key string) error {
		addr := storetest.With(server.addr, "ca="+server.ca)
		if cert != "" {
			addr = storetest.With(addr, "cert="+cert, "key="+key)
		}
		return use(t, addr)
	}
	// met returns the error when the error is the alert. In TLS 1.3 the client sends the request before the server looks
	// at the certificate. If the server has closed the connection by then, the error may be that of the connection.
	met := func(t *testing.T, cert, key string) (text string) {
		wait.Until(t, "the error is the alert of the server", func() bool {
			text = advice.Text(t, with(t, cert, key))
			return strings.Contains(text, "remote error: tls: ")
		})
		return text
	}
	return advice.Fault{Name: "a client without a certificate", Meet: func(t *testing.T) string {
		server = secure(t, later())
		cert, key = storetest.Certify(t)
		config := server.config.Load().Clone()
		config.ClientAuth, config.ClientCAs = tls.RequireAndVerifyClientCert, x509.NewCertPool()
		config.ClientCAs.AddCert(testkit.Must(tls.LoadX509KeyPair(cert, key)).Leaf)
		if runtime.GOOS == "windows" { // which drops an alert before the end of a connection
			config.MaxVersion = tls.VersionTLS12
		}
		server.config.Store(config)
		other, otherKey := storetest.Certify(t)
		if text := met(t, other, otherKey); !strings.Contains(text, "look at cert and key: ") {
			t.Errorf("another certificate: %s", text)
		}
		return met(t, "", "")
	}, Ways: advice.Ways{"look at cert and key": func(t *testing.T) error { return with(t, cert, key) }}}
}

// alerting returns the address of a proxy for a server with TLS that is not one of HTTP: to a client without TLS
// it sends an alert.
func alerting(t *testing.T, server string) string {
	t.Helper()
	l := testkit.Must(loopback.Proxy(server, func(client, server net.Conn) {
		first := make([]byte, 1)
		if _, err := io.ReadFull(client, first); err != nil {
			return
		}
		const handshake = 0x16
		if first[0] != handshake {
			http.ReadRequest(bufio.NewReader(io.MultiReader(bytes.NewReader(first), client))) // or the client gets no alert
			io.WriteString(client, "\x15\x03\x01\x00\x02\x02\x0a")
			return
		}
		server.Write(first)
		go io.Copy(server, client)
		io.Copy(client, server)
	}))
	t.Cleanup(func() { l.Close() })
	return l.Addr().String()
}

// network are faults of the network, and of what listens at an address.
func network() []advice.Fault {
	var addr string
	var open chan struct{}
	closed := func(client, server net.Conn) {
		<-open
		go io.Copy(server, client)
		io.Copy(client, server)
	}
	proxied := func(name, says string, rewrite func(*httputil.ProxyRequest), modify func(*http.Response) error) advice.Fault {
		var addr string
		return advice.Fault{Name: name, Meet: func(t *testing.T) string {
			addr = start(t, consultest.New())
			to := testkit.Must(url.Parse("http://" + strings.Split(addr, "/")[2]))
			proxy := httptest.NewServer(&httputil.ReverseProxy{ModifyResponse: modify, Rewrite: func(r *httputil.ProxyRequest) {
				r.SetURL(to)
				rewrite(r)
			}})
			t.Cleanup(proxy.Close)
			return advice.Text(t, use(t, "consul://"+proxy.Listener.Addr().String()+"/p"))
		}, Ways: advice.Ways{says: func(t *testing.T) error { return use(t, addr) }}}
	}
	as := func(*httputil.ProxyRequest) {}
	elsewhere := func(name, says string, handler http.Handler) advice.Fault {
		return advice.Fault{Name: name, Meet: func(t *testing.T) string {
			web := httptest.NewServer(handler)
			t.Cleanup(web.Close)
			return advice.Text(t, use(t, "consul://"+web.Listener.Addr().String()+"/p"))
		}, Ways: advice.Ways{says: func(t *testing.T) error { return use(t, start(t, consultest.New())) }}}
	}
	const listens = "see that Consul listens there, on the port for HTTP"
	return []advice.Fault{
		{Name: "nothing listens", Meet: func(t *testing.T) string {
			addr = storetest.Gone(t)
			return advice.Text(t, use(t, "consul://"+addr+"/p"))
		}, Ways: advice.Ways{
			"and that the port is right": func(t *testing.T) error { return use(t, start(t, consultest.New())) },
			"see that Consul runs there": func(t *testing.T) error {
				web := httptest.NewUnstartedServer(consultest.New())
				web.Listener.Close()
				web.Listener = testkit.Must(net.Listen("tcp", addr))
				web.Start()
				t.Cleanup(web.Close)
				return use(t, "consul://"+addr+"/p")
			},
		}},
		broken("no answer", with("timeout=300ms"), set(func(s *consultest.Server) {
			s.Fault = func(*http.Request) pretend.Fault { return pretend.Hang }
		}), mend{says: "see that Consul runs there and answers", do: set(func(s *consultest.Server) { s.Fault = nil }), use: with()}),
		{Name: "a network that lets nothing through", Meet: func(t *testing.T) string {
			open = make(chan struct{})
			l := testkit.Must(loopback.Proxy(strings.Split(start(t, consultest.New()), "/")[2], closed))
			t.Cleanup(func() { l.Close() })
			addr = "consul://" + l.Addr().String() + "/p"
			return advice.Text(t, use(t, addr+"?timeout=300ms"))
		}, Ways: advice.Ways{"see that Consul runs there and answers, and that the network lets you through": func(t *testing.T) error {
			close(open)
			return use(t, addr)
		}}},
		elsewhere("another server", listens, http.NotFoundHandler()),
		elsewhere("a server that redirects", "see that Consul listens there", http.RedirectHandler("https://localhost/ui/", http.StatusMovedPermanently)),
		elsewhere("a server that wants a password", listens, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusUnauthorized)
		})),
		proxied("a proxy without the headers of Consul", listens+", and what is between here and Consul", as, func(r *http.Response) error {
			r.Header.Del("X-Consul-Index")
			return nil
		}),
		proxied("a proxy that makes reads stale", "look for a proxy between here and Consul that changes requests", func(r *httputil.ProxyRequest) {
			query := r.Out.URL.Query()
			query.Del("consistent")
			query.Set("stale", "")
			r.Out.URL.RawQuery = query.Encode()
		}, func(r *http.Response) error {
			r.Header.Set("X-Consul-Effective-Consistency", "stale") // as Consul does
			return nil
		}),
		broken("Consul without transactions", with(), says("PUT /v1/txn", 404, "Invalid URL path: not a recognized HTTP API endpoint"),
			mend{says: "see that Consul 1.0 or later listens there, on the port for HTTP", do: well}),
		broken("Consul with other methods", with(), says("PUT /v1/txn", 405, "method PUT not allowed"),
			mend{says: "see that Consul 1.0 or later listens there, on the port for HTTP", do: well}),
	}
}
