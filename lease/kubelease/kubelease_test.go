package kubelease

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/servers/kubetest"
	"github.com/firn-id/firn/internal/servers/pretend"
	firnlease "github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/address"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/leased"
	"github.com/firn-id/firn/nanoflake"
)

const secret = "hunter2-hunter2"

// start serves, and returns the address of the store with the setting server.
func start(t *testing.T, server *kubetest.Server) string {
	return "kubernetes://test/p?server=" + server.Start(t).URL
}

func mustOpen(t *testing.T, addr string) *Store {
	t.Helper()
	s, err := Open(t.Context(), addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func put(t *testing.T, s driver.Store, key, value string, rev driver.Revision) driver.Revision {
	t.Helper()
	made, err := s.Put(t.Context(), key, []byte(value), rev)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func want(t *testing.T, s driver.Store, key, value string, rev driver.Revision) {
	t.Helper()
	e, err := s.Get(t.Context(), key)
	if err != nil || string(e.Value) != value || e.Revision != rev {
		t.Errorf("Get(%s) = %.40q at %q, %v; want %.40q at %q", key, e.Value, e.Revision, err, value, rev)
	}
}

// wantError checks that an error is a whole [driver.Error] of that kind, that says all the parts and no secret.
func wantError(t *testing.T, err, kind error, parts ...string) {
	t.Helper()
	var e *driver.Error
	if !errors.As(err, &e) || !errors.Is(err, kind) || e.Store == "" || e.Op == "" {
		t.Errorf("the error is %v; want a driver.Error that is %q", err, kind)
		return
	}
	if kind != driver.ErrConflict && kind != driver.ErrKey && kind != driver.ErrNotFound && !errors.Is(err, context.Canceled) && e.Advice == "" {
		t.Errorf("the error has no advice: %v", err)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error is %q, without %q", err, part)
		}
	}
	if strings.Contains(err.Error(), secret) {
		t.Errorf("the error %q shows the token", err)
	}
}

// Bad addresses, and servers that are not the API's.
func TestOpen(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts, and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	web := httptest.NewServer(http.NotFoundHandler())
	defer web.Close()
	elsewhere := httptest.NewServer(http.RedirectHandler(web.URL, http.StatusTemporaryRedirect))
	defer elsewhere.Close()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	secure := httptest.NewTLSServer(kubetest.New())
	defer secure.Close()
	const k = "kubernetes://test/p?timeout=20s&server="
	for addr, parts := range map[string][]string{
		"nonsense":                                                  {"invalid address"},
		"consul://test?token=" + secret:                             {"not kubernetes://", "consul://test/firn"},
		"kubernetes://u:" + secret + "@test":                        {"it has a user"},
		"kubernetes://a,b/p":                                        {"no namespace"},
		"kubernetes://Test/p":                                       {"no namespace"},
		"kubernetes://test:80/p":                                    {"no namespace"},
		"kubernetes://test/a/b":                                     {"the prefix"},
		"kubernetes://test/a.b":                                     {"the prefix"},
		"kubernetes://test/-a":                                      {"the prefix"},
		"kubernetes:///p":                                           {"no namespace", "no pod"},
		"kubernetes://test/p":                                       {"no server", "KUBERNETES_SERVICE_HOST"},
		"kubernetes://test/p?colour=red":                            {"no setting colour, only ca, cert, key, server"},
		"kubernetes://test?token-file=/not/there":                   {"/not/there"},
		"kubernetes://test?server=ftp://h":                          {"not https://host:port"},
		"kubernetes://test?server=https://h/k8s":                    {"not https://host:port"},
		"kubernetes://test?server=https://u:p@h":                    {"not https://host:port"},
		"kubernetes://test?server=https://h&tls=false":              {"tls=false"},
		"kubernetes://test?server=http://h&tls=true":                {"goes without tls"},
		"kubernetes://test?server=http://h.example&token=" + secret: {"in clear"},

		k + gone.URL:      {"connection refused", "see that the API server runs there"},
		k + web.URL:       {"404", "1.14 or later"},
		k + elsewhere.URL: {"307", "never redirects"},
		k + secure.URL:    {"has signed", "ca"},
		k + "https://" + web.Listener.Addr().String():                                                  {"speaks without TLS"},
		k + "http://" + secure.Listener.Addr().String():                                                {"begins with https://"},
		k + "http://127.0.0.1&token=a%20" + secret:                                                     {"a character that tokens do not have"},
		"kubernetes://test?timeout=300ms&token=" + secret + "&server=http://" + silent.Addr().String(): {"deadline exceeded", "see that the API server and its etcd are up"},
	} {
		s, err := Open(t.Context(), addr)
		if err == nil {
			s.Close()
			t.Errorf("%s was opened", addr)
			continue
		}
		wantError(t, err, driver.ErrUnavailable, parts...)
		if !strings.HasPrefix(addr, k) && !strings.Contains(addr, "timeout") && !errors.Is(err, address.ErrAddress) {
			t.Errorf("%v is not ErrAddress", err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	_, err = Open(ctx, "kubernetes://test?timeout=1m&server=http://"+silent.Addr().String())
	if !errors.Is(err, context.Canceled) || !errors.Is(err, driver.ErrUnavailable) {
		t.Errorf("cancelled: %v", err)
	}
}

// In a pod all is where Kubernetes puts it, and the token is replaced now and then.
func TestInCluster(t *testing.T) {
	server := kubetest.New()
	server.Tokens = map[string][]string{secret: verbs}
	web := server.StartWith(t, (*httptest.Server).StartTLS)
	host, port, err := net.SplitHostPort(web.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBERNETES_SERVICE_HOST", host)
	t.Setenv("KUBERNETES_SERVICE_PORT", port)
	account := t.TempDir()
	write := func(name, content string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(account, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, err = open(t.Context(), "kubernetes://test", account)
	wantError(t, err, driver.ErrUnavailable, "no ca, and this is no pod")
	write("ca.crt", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: web.Certificate().Raw})))
	_, err = open(t.Context(), "kubernetes://test", account)
	wantError(t, err, driver.ErrUnavailable, "the token", "can be read")
	write("token", secret+"\n")
	write("namespace", "test")
	s, err := open(t.Context(), "kubernetes://", account)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if s.String() != "kubernetes://test/firn" {
		t.Errorf("String = %s", s)
	}
	rev := put(t, s, "a", "x", driver.None)
	server.Do(func() { server.Tokens = map[string][]string{"another-" + secret: verbs} })
	_, err = s.Get(t.Context(), "a")
	wantError(t, err, driver.ErrUnavailable, "401: Unauthorized", "look at the token")
	write("token", "another-"+secret)
	want(t, s, "a", "x", rev)
	c, err := s.Watch(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, "a", "y", rev)
	changed(t, c, "a change")
	write("token", "")
	_, err = s.Get(t.Context(), "a")
	wantError(t, err, driver.ErrUnavailable, "is empty")
}

// A client may show a certificate instead of a token.
func TestCertificate(t *testing.T) {
	dir := t.TempDir()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	web := kubetest.New().StartWith(t, func(s *httptest.Server) {
		s.TLS = &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: x509.NewCertPool()}
		s.TLS.ClientCAs.AddCert(cert)
		s.StartTLS()
	})
	for name, block := range map[string]*pem.Block{"cert": {Type: "CERTIFICATE", Bytes: der}, "key": {Type: "PRIVATE KEY", Bytes: private},
		"ca": {Type: "CERTIFICATE", Bytes: web.Certificate().Raw}} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	addr := "kubernetes://test/p?server=" + web.URL + "&ca=" + dir + "/ca"
	_, err = Open(t.Context(), addr)
	wantError(t, err, driver.ErrUnavailable)
	s := mustOpen(t, addr+"&cert="+dir+"/cert&key="+dir+"/key")
	want(t, s, "a", "x", put(t, s, "a", "x", driver.None))
	_, err = Open(t.Context(), addr+"&cert="+dir+"/cert&key="+dir+"/key&server-name=kubernetes.default.svc")
	wantError(t, err, driver.ErrUnavailable, "server-name")
}

// What an account may not do, and what is wrong with the server.
func TestErrors(t *testing.T) {
	server := kubetest.New()
	server.Tokens = map[string][]string{secret: verbs, "reader": {"list", "get"}, "nobody": nil}
	addr := start(t, server)
	all := mustOpen(t, addr+"&timeout=1m&token="+secret)
	rev := put(t, all, "a", "x", driver.None)
	_, err := Open(t.Context(), addr+"&token=unknown")
	wantError(t, err, driver.ErrUnavailable, "401", "look at the token")
	_, err = Open(t.Context(), addr+"&token=nobody")
	wantError(t, err, driver.ErrUnavailable, "403", "cannot list", "let the service account list leases", "get, list, create, update and watch")
	reader := mustOpen(t, addr+"&token=reader")
	_, err = reader.Put(t.Context(), "b", nil, driver.None)
	wantError(t, err, driver.ErrUnavailable, "let the service account create leases in the namespace test")
	_, err = reader.Put(t.Context(), "a", nil, rev)
	wantError(t, err, driver.ErrUnavailable, "let the service account update leases")
	_, err = reader.Watch(t.Context(), "")
	wantError(t, err, driver.ErrUnavailable, "let the service account watch leases")

	// A namespace that is not there has no entries, and takes none.
	nowhere := mustOpen(t, strings.Replace(addr, "//test", "//nowhere", 1)+"&token="+secret)
	_, err = nowhere.Get(t.Context(), "a")
	wantError(t, err, driver.ErrNotFound)
	_, err = nowhere.Put(t.Context(), "a", nil, driver.None)
	wantError(t, err, driver.ErrUnavailable, `namespaces "nowhere" not found`, "kubectl create namespace nowhere")
	_, err = nowhere.Put(t.Context(), "a", nil, rev)
	wantError(t, err, driver.ErrConflict)
	server.Do(func() { server.Namespaces["nowhere"] = "Terminating" })
	_, err = nowhere.Put(t.Context(), "a", nil, driver.None)
	wantError(t, err, driver.ErrUnavailable, "is being deleted")

	name := all.prefix + "a"
	for _, c := range []struct {
		answer *pretend.Answer
		parts  []string
	}{
		{kubetest.Status(422, "Invalid", "Lease", name, "denied by a policy"), []string{"422: denied by a policy", "which policy"}},
		{kubetest.Status(429, "TooManyRequests", "", "", "too many requests, please try again later"), []string{"429", "PriorityLevelConfiguration"}},
		{kubetest.Status(500, "InternalError", "", "", "etcdserver: leader changed for "+secret), []string{"leader changed for (token)", "etcd are up"}},
		{kubetest.Status(503, "ServiceUnavailable", "", "", "apiserver is shutting down"), []string{"503", "etcd are up"}},
		{kubetest.Status(504, "Timeout", "", "", "Timeout: request did not complete within the allotted timeout"), []string{"504"}},
		{kubetest.Status(404, "NotFound", "namespaces", "test", "not found"), []string{"create namespace"}},
		{kubetest.Status(404, "NotFound", "leases", "p.b", "not found"), []string{"404"}},
		{kubetest.Status(409, "Conflict", "resourcequotas", "q", "the object has been modified"), []string{"409", "try again"}},
		{kubetest.Status(409, "Conflict", "leases", "p.b", "the object has been modified"), []string{"409"}},
		{kubetest.Status(409, "Conflict", "configmaps", name, "the object has been modified"), []string{"409"}},
		{kubetest.Status(404, "NotFound", "configmaps", name, "not found"), []string{"404"}},
		{kubetest.Status(409, "AlreadyExists", "leases", name, "exists"), []string{"409"}}, // of an update
		{kubetest.Status(400, "BadRequest", "", "", "no"), []string{"400: no", "its log"}},
		{pretend.Text(404, "404 page not found\n"), []string{"404 page not found", "1.14"}},
		{pretend.Text(502, "<html>Bad Gateway</html>"), []string{"502: <html>Bad Gateway"}},
		{pretend.Text(302, ""), []string{"302: Found", "redirects"}},
		{pretend.Text(200, "<html>welcome</html>"), []string{"not a Lease", "see that it is the API"}},
		{pretend.Text(200, ""), []string{"not a Lease"}},
		{pretend.Text(200, "null"), []string{"not a Lease"}},
		{pretend.JSON(200, map[string]any{"kind": "ConfigMap", "apiVersion": "v1"}), []string{`a "ConfigMap" of "v1"`}},
		{pretend.JSON(200, kubetest.Object{APIVersion: apiVersion, Kind: "Lease", Metadata: kubetest.Metadata{Name: "p.b", Namespace: "test", UID: "u", ResourceVersion: "7"}}), []string{`about "p.b"`}},
		{pretend.JSON(200, kubetest.Object{APIVersion: apiVersion, Kind: "Lease", Metadata: kubetest.Metadata{Name: name, Namespace: "test"}}), []string{"no uid"}},
	} {
		c.answer.Header.Set("Retry-After", "3600") // there is no point in asking again
		server.Do(func() { server.Answer = func(*http.Request) *pretend.Answer { return c.answer } })
		_, getErr := all.Get(t.Context(), "a")
		_, listErr := all.List(t.Context(), "")
		_, err = all.Put(t.Context(), "a", []byte("y"), rev)
		wantError(t, err, driver.ErrUnavailable, c.parts...)
		for _, err := range []error{err, getErr, listErr} {
			wantError(t, err, driver.ErrUnavailable)
			if errors.Is(err, driver.ErrConflict) || errors.Is(err, driver.ErrNotFound) {
				t.Errorf("%d %s is %v", c.answer.Status, c.answer.Body, err)
			}
		}
	}
	// The API has made what it was not asked for.
	server.Do(func() { server.Answer = nil })
	for _, change := range []func(*kubetest.Object){
		func(o *kubetest.Object) { o.Metadata.UID = "another" },
		func(o *kubetest.Object) {
			o.Metadata.ResourceVersion = strings.TrimPrefix(string(rev), o.Metadata.UID+".")
		},
		func(o *kubetest.Object) { o.Metadata.Annotations[valueAnnotation] = "" },
		func(o *kubetest.Object) { o.Metadata.Annotations[writeAnnotation] = "" },
	} {
		server.Do(func() {
			server.Filter = func(_ *http.Request, a *pretend.Answer) {
				var made kubetest.Object
				if err := json.Unmarshal(a.Body, &made); err != nil {
					t.Error(err)
				}
				change(&made)
				*a = *pretend.JSON(a.Status, made)
			}
		})
		_, err = all.Put(t.Context(), "a", []byte("x"), rev)
		wantError(t, err, driver.ErrUnsafe)
		server.Do(func() { server.Filter = nil })
		e, err := all.Get(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		rev = e.Revision
	}
	want(t, all, "a", "x", rev)
	// It asks to come again, and is come to again.
	busy := 2
	server.Do(func() {
		server.Answer = func(*http.Request) *pretend.Answer {
			if busy--; busy < 0 {
				return nil
			}
			a := kubetest.Status(429, "TooManyRequests", "", "", "later")
			a.Header.Set("Retry-After", "0")
			return a
		}
	})
	put(t, all, "a", "y", rev)
	if busy >= 0 {
		t.Error("the server was not asked again")
	}
	// But not later than there is time for.
	server.Do(func() {
		server.Answer = func(*http.Request) *pretend.Answer {
			a := kubetest.Status(429, "TooManyRequests", "", "", "later")
			a.Header.Set("Retry-After", "3600")
			return a
		}
	})
	_, err = all.Get(t.Context(), "a")
	wantError(t, err, driver.ErrUnavailable, "429: later")
}

func TestDamaged(t *testing.T) {
	server := kubetest.New()
	s := mustOpen(t, start(t, server))
	rev := put(t, s, "a", "x", driver.None)
	for _, name := range []string{"pb", "p.zx", "p.z", "other", "p.azdb", "p.a-z"} {
		server.Set("test", name, func(*kubetest.Object) {})
	}
	server.Set("default", "p.b", func(*kubetest.Object) {})
	list, err := s.List(t.Context(), "")
	if err != nil || len(list) != 1 || list[0].Key != "a" {
		t.Errorf("List = %v, %v", list, err)
	}
	_, err = s.Get(t.Context(), "b")
	wantError(t, err, driver.ErrNotFound)
	for _, value := range []string{"!", "eA", "eB==", base64.StdEncoding.EncodeToString(make([]byte, driver.MaxValue+1))} {
		server.Set("test", "p.c", func(o *kubetest.Object) { o.Metadata.Annotations[valueAnnotation] = value })
		_, err = s.Get(t.Context(), "c")
		wantError(t, err, driver.ErrDamaged, "p.c", "rescue the pool")
		list, err := s.List(t.Context(), "")
		wantError(t, err, driver.ErrDamaged)
		if len(list) != 2 || list[0].Err != nil || !errors.Is(list[1].Err, driver.ErrDamaged) {
			t.Fatalf("List = %v", list)
		}
		want(t, s, "c", "anew", put(t, s, "c", "anew", list[1].Revision))
	}
	server.Delete("test", "p.c")
	server.Set("test", "p.d", func(*kubetest.Object) {})
	_, err = s.Get(t.Context(), "d")
	wantError(t, err, driver.ErrDamaged, "no annotation")
	for _, other := range []driver.Revision{"0", ".", "x.", ".1", "x", rev + "0", "0" + rev, driver.Revision(strings.Replace(string(rev), ".", ".0", 1))} {
		_, err := s.Put(t.Context(), "a", []byte("y"), other)
		wantError(t, err, driver.ErrConflict)
		_, err = s.Put(t.Context(), "new", []byte("y"), other)
		wantError(t, err, driver.ErrConflict)
	}
	want(t, s, "a", "x", rev)
	// One that is deleted and made again is another one.
	server.Delete("test", "p.a")
	_, err = s.Put(t.Context(), "a", []byte("y"), rev)
	wantError(t, err, driver.ErrConflict)
	if again := put(t, s, "a", "x", driver.None); strings.HasPrefix(string(again), string(rev[:36])) {
		t.Errorf("%q after %q is of the same object", again, rev)
	}
	_, err = s.Put(t.Context(), "a", []byte("y"), rev)
	wantError(t, err, driver.ErrConflict)
	// A key that is too long for a name.
	long := strings.Repeat("k", 100) + "/" + strings.Repeat("k", 100) + "/" + strings.Repeat("k", 50)
	_, err = s.Put(t.Context(), long, nil, driver.None)
	wantError(t, err, driver.ErrKey, "name of 254 bytes")
	_, err = s.Get(t.Context(), long)
	wantError(t, err, driver.ErrKey)
	put(t, s, long[:len(long)-1], "x", driver.None)
}

// An object says whose it is, and nothing that would make anything else act on it.
func TestObject(t *testing.T) {
	server := kubetest.New()
	s := mustOpen(t, start(t, server))
	rev := put(t, s, "pool/a", "x", driver.None)
	for range 2 {
		o, ok := server.Objects()["test/p.pool.a"]
		m := o.Metadata
		if !ok || len(o.Spec) != 0 || len(m.Labels) != 2 || m.Labels[managedLabel] != "firn" || m.Labels[prefixLabel] != "p" || m.Annotations[valueAnnotation] != "eA==" ||
			driver.Revision(m.UID+"."+m.ResourceVersion) != rev || len(m.OwnerReferences) != 0 {
			t.Errorf("the object is %+v", o)
		}
		rev = put(t, s, "pool/a", "x", rev)
	}
	// Labels that somebody took away hide nothing, and Put gives them back.
	server.Set("test", "p.pool.a", func(o *kubetest.Object) { o.Metadata.Labels = nil })
	list, err := s.List(t.Context(), "pool/")
	if err != nil || len(list) != 1 {
		t.Fatalf("List = %v, %v", list, err)
	}
	put(t, s, "pool/a", "y", list[0].Revision)
	if o := server.Objects()["test/p.pool.a"]; o.Metadata.Labels[prefixLabel] != "p" {
		t.Errorf("the object is %+v", o)
	}
}

// Pages that are forgotten between one and the next.
func TestPages(t *testing.T) {
	server := kubetest.New()
	server.PageLimit = 3
	s := mustOpen(t, start(t, server))
	for i := range 20 {
		put(t, s, fmt.Sprintf("pool/%02d", i), "x", driver.None)
	}
	for _, forgets := range []int{0, 1, 1000} {
		pages := 0
		server.Do(func() {
			server.Filter = func(r *http.Request, _ *pretend.Answer) {
				if r.URL.Query().Get("continue") != "" {
					if pages++; pages <= forgets {
						server.Forget()
					}
				}
			}
		})
		list, err := s.List(t.Context(), "pool/")
		if err != nil || len(list) != 20 || list[19].Key != "pool/19" {
			t.Errorf("forgetting %d times: List has %d entries, %v", forgets, len(list), err)
		}
		if pages == 0 {
			t.Error("there was one page")
		}
	}
}

// Requests that are lost, late, or done twice.
func TestFaults(t *testing.T) {
	server := kubetest.New()
	s := mustOpen(t, start(t, server)+"&timeout=2s")
	requests := 0
	for _, create := range []bool{true, false} {
		for fault, done := range map[pretend.Fault]bool{pretend.Cut: false, pretend.LoseReply: true, pretend.HalfReply: true, pretend.Hang: true} {
			key, rev := fmt.Sprintf("a%v/%d", create, fault), driver.None
			if !create {
				rev = put(t, s, key, "old", driver.None)
			}
			requests = 0
			server.Do(func() {
				server.Fault = func(r *http.Request) pretend.Fault {
					if r.Method == http.MethodGet {
						return pretend.None
					}
					requests++
					return fault
				}
			})
			_, err := s.Put(t.Context(), key, []byte("new"), rev)
			wantError(t, err, driver.ErrUnavailable)
			if errors.Is(err, driver.ErrConflict) {
				t.Errorf("fault %d is a conflict: %v", fault, err)
			}
			server.Do(func() { server.Fault = nil })
			if requests != 1 {
				t.Errorf("fault %d: the write was sent %d times", fault, requests)
			}
			if e, err := s.Get(t.Context(), key); (string(e.Value) == "new") != done || err != nil && !errors.Is(err, driver.ErrNotFound) {
				t.Errorf("fault %d: %s is %q, %v; want it done: %v", fault, key, e.Value, err, done)
			}
		}
	}
	server.Do(func() { server.Fault = func(*http.Request) pretend.Fault { return pretend.Twice } })
	_, err := s.Put(t.Context(), "twice", nil, driver.None)
	wantError(t, err, driver.ErrConflict)
	e, err := s.Get(t.Context(), "twice")
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Put(t.Context(), "twice", []byte("x"), e.Revision)
	wantError(t, err, driver.ErrConflict)
	server.Do(func() { server.Fault = func(*http.Request) pretend.Fault { return pretend.Hang } })
	_, err = s.Get(t.Context(), "twice")
	wantError(t, err, driver.ErrUnavailable, "deadline exceeded")
}

// changed waits for a value.
func changed(t *testing.T, c <-chan struct{}, what string) {
	t.Helper()
	select {
	case _, ok := <-c:
		if !ok {
			t.Fatalf("%s: the channel is closed", what)
		}
	case <-time.After(time.Minute):
		t.Fatalf("%s: no value", what)
	}
}

func TestWatch(t *testing.T) {
	server := kubetest.New()
	addr := start(t, server)
	s, other := mustOpen(t, addr), mustOpen(t, addr)
	rev := put(t, other, "pool/a", "x", driver.None)
	ctx, cancel := context.WithCancel(t.Context())
	c, err := s.Watch(ctx, "pool/")
	if err != nil {
		t.Fatal(err)
	}
	change := func(what string) {
		t.Helper()
		rev = put(t, other, "pool/a", what, rev)
		changed(t, c, what)
	}
	for range 3 {
		change("a change")
	}
	// The watch ends, and there is a change before it goes on.
	server.Do(func() {
		server.Fault = func(r *http.Request) pretend.Fault {
			if r.URL.Query().Get("watch") != "" {
				return pretend.Cut
			}
			return pretend.None
		}
	})
	server.DropWatches()
	rev = put(t, other, "pool/a", "between", rev)
	server.Do(func() { server.Fault = nil })
	changed(t, c, "a change between two watches")
	// The server forgets what was between: whatever it was, there is a value.
	server.Do(func() {
		server.Fault = func(r *http.Request) pretend.Fault {
			if r.URL.Query().Get("watch") != "" {
				return pretend.Cut
			}
			return pretend.None
		}
	})
	server.DropWatches()
	rev = put(t, other, "pool/a", "forgotten", rev)
	server.Forget()
	server.Do(func() { server.Fault = nil })
	changed(t, c, "a change that was forgotten")
	change("a change after that")
	// A watch ends with an error: whatever it is, there is a value.
	broken := false
	server.Do(func() {
		server.Answer = func(r *http.Request) *pretend.Answer {
			if broken || r.URL.Query().Get("watch") == "" {
				return nil
			}
			broken = true
			a := kubetest.Status(500, "InternalError", "", "", "oh")
			return pretend.JSON(200, map[string]any{"type": "ERROR", "object": json.RawMessage(a.Body)})
		}
	})
	server.DropWatches()
	changed(t, c, "an error in place of an event")
	// Events of others go on with the version, so a watch that is quiet is not forgotten.
	put(t, other, "elsewhere", "x", driver.None)
	change("a change after one elsewhere")
	cancel()
	for range c { // until it is closed
	}
	c, err = s.Watch(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	for range c {
	}
	_, err = s.Watch(t.Context(), "")
	if !errors.Is(err, os.ErrClosed) {
		t.Errorf("Watch after Close: %v", err)
	}
}

func TestInspect(t *testing.T) {
	owned := func(o *kubetest.Object) { o.Metadata.OwnerReferences = []map[string]any{{"kind": "Pod", "name": "x"}} }
	going := func(o *kubetest.Object) { o.Metadata.DeletionTimestamp = "2026-01-01T00:00:00Z" }
	for name, c := range map[string]struct {
		change func(*kubetest.Server)
		object func(*kubetest.Object)
		loses  bool
		want   string // in the findings; "" for none
	}{
		"well":                       {},
		"no right to see namespaces": {change: func(s *kubetest.Server) { s.SeeSpaces = false }},
		"no namespace":               {change: func(s *kubetest.Server) { delete(s.Namespaces, "test") }, want: "there is no namespace test"},
		"no namespace, unseen":       {change: func(s *kubetest.Server) { s.SeeSpaces = false; delete(s.Namespaces, "test") }, want: "there is no namespace test"},
		"terminating":                {change: func(s *kubetest.Server) { s.Namespaces["test"] = "Terminating" }, loses: true, want: "test is being deleted"},
		"terminating, unseen":        {change: func(s *kubetest.Server) { s.SeeSpaces = false; s.Namespaces["test"] = "Terminating" }, loses: true, want: "test is being deleted"},
		"k3s":                        {change: func(s *kubetest.Server) { s.Version = `{"major":"1","minor":"33","gitVersion":"v1.33.1+k3s1"}` }, want: "K3s"},
		"old":                        {change: func(s *kubetest.Server) { s.Version = `{"major":"1","minor":"13+","gitVersion":"v1.13.2"}` }, want: "does not have leases"},
		"cached": {change: func(s *kubetest.Server) {
			s.Filter = func(_ *http.Request, a *pretend.Answer) { a.Header.Set("Age", "7") }
		}, loses: true, want: "reads can be stale"},
		"no permissions":            {change: func(s *kubetest.Server) { s.Tokens = map[string][]string{"": {"get", "list", "watch"}} }, want: "may not create, update leases"},
		"an owner":                  {object: owned, loses: true, want: "1 entries have owners"},
		"deleted, with a finalizer": {object: going, loses: true, want: "1 entries are being deleted"},
		"something else's":          {object: func(o *kubetest.Object) { o.Metadata.Annotations = nil }, want: "1 are none of this store, such as"},
	} {
		t.Run(name, func(t *testing.T) {
			server := kubetest.New()
			s := mustOpen(t, start(t, server))
			put(t, s, "a", "x", driver.None)
			if c.object != nil {
				server.Set("test", "p.a", c.object)
			}
			if c.change != nil {
				server.Do(func() { c.change(server) })
			}
			findings, err := s.Inspect(t.Context())
			switch {
			case err != nil:
				t.Fatal(err)
			case c.want == "" && len(findings) == 0:
			case c.want == "" || len(findings) != 1 || findings[0].Loses != c.loses || !strings.Contains(findings[0].Text, c.want):
				t.Errorf("Inspect = %v; want %q, loses: %v", findings, c.want, c.loses)
			}
			if o := server.Objects(); len(o) != 1 {
				t.Errorf("there are %d objects after Inspect", len(o))
			}
		})
	}
	server := kubetest.New()
	s := mustOpen(t, start(t, server))
	server.Do(func() { server.Version = "<html>" })
	_, err := s.Inspect(t.Context())
	wantError(t, err, driver.ErrUnavailable, "see that it is the API")
	s.Close()
	if _, err := s.Inspect(t.Context()); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Inspect after Close: %v", err)
	}
}

// The lease package on the store.
func TestLease(t *testing.T) {
	const long, short = 10 * time.Second, 4 * time.Second // a busy machine may be slow
	for _, window := range []time.Duration{long, short} {
		t.Run(window.String(), func(t *testing.T) {
			t.Parallel()
			store := mustOpen(t, start(t, kubetest.New()))
			o := leased.Options{Store: store, Lease: firnlease.Config{Window: window, First: window, Timeout: window}}
			if _, _, err := leased.Nanoflake(t.Context(), nanoflake.Config{}, o); !errors.Is(err, firnlease.ErrNoPool) {
				t.Fatalf("without a pool: %v", err)
			}
			o.Create = true
			seen := make(map[nanoflake.ID]bool)
			for range 3 { // at once one after the other
				gen, l, err := leased.Nanoflake(t.Context(), nanoflake.Config{}, o)
				if err != nil {
					t.Fatal(err)
				}
				for first := l.Until(); window == short && l.Until().Equal(first) || len(seen)%1000 != 999; {
					id, err := gen.Next(t.Context())
					if err != nil || seen[id] || id.GeneratorID() != l.Worker() {
						t.Fatalf("%v, %v, seen: %v, worker %d", id, err, seen[id], l.Worker())
					}
					if seen[id] = true; len(seen)%100 == 0 {
						time.Sleep(time.Millisecond)
					}
				}
				if err := l.Err(); err != nil {
					t.Error(err)
				}
				if err := l.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
