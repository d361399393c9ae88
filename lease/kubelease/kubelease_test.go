package kubelease

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firn-id/firn/internal/testing/kubetest"
	"github.com/firn-id/firn/internal/testing/pretend"
	"github.com/firn-id/firn/internal/testing/storetest"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/internal/testing/wait"
	"github.com/firn-id/firn/lease/driver"
)

const secret = storetest.Secret + "-" + storetest.Secret

// start serves, and returns the address of the store with the setting server.
func start(t *testing.T, server *kubetest.Server) string {
	return "kubernetes://test/p?server=" + server.Start(t).URL
}

// TestOpen has addresses with mistakes, and servers other than the API.
func TestOpen(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	silent, gone := storetest.Silent(t), storetest.Gone(t)
	web := httptest.NewServer(http.NotFoundHandler())
	defer web.Close()
	elsewhere := httptest.NewServer(http.RedirectHandler(web.URL, http.StatusTemporaryRedirect))
	defer elsewhere.Close()
	secure := httptest.NewTLSServer(kubetest.New())
	defer secure.Close()
	storetest.Invalid(t, Open, map[string][]string{
		"nonsense":                                                  {"invalid address"},
		"etcd://test?token=" + secret:                               {"not kubernetes://", "etcd://test/firn"},
		"kubernetes://u:" + secret + "@test":                        {"it has a user"},
		"kubernetes://a,b/p":                                        {"is not a namespace"},
		"kubernetes://Test/p":                                       {"is not a namespace"},
		"kubernetes://test:80/p":                                    {"is not a namespace"},
		"kubernetes://test/a/b":                                     {"the prefix"},
		"kubernetes://test/a.b":                                     {"the prefix"},
		"kubernetes://test/-a":                                      {"the prefix"},
		"kubernetes:///p":                                           {"no namespace", "not a pod"},
		"kubernetes://test/p":                                       {"no server", "KUBERNETES_SERVICE_HOST"},
		"kubernetes://test/p?colour=red":                            {"no setting colour, only ca, cert, key, server"},
		"kubernetes://test?server=ftp://h":                          {"not https://host:port"},
		"kubernetes://test?server=https://h/k8s":                    {"not https://host:port"},
		"kubernetes://test?server=https://u:p@h":                    {"not https://host:port"},
		"kubernetes://test?server=http://h&tls=true":                {"goes without tls"},
		"kubernetes://test?server=http://h.example&token=" + secret: {"in clear"},
	})
	const k = "kubernetes://test/p?timeout=20s&server="
	storetest.Refused(t, Open, map[string][]string{
		k + "http://" + gone: {"connection refused", "remedy: connect"},
		k + web.URL:          {"404", "remedy: address"},
		k + elsewhere.URL:    {"307", "remedy: address"},
		k + secure.URL:       {"remedy: address"},
		k + "https://" + web.Listener.Addr().String():                                  {"remedy: address"},
		k + "http://" + secure.Listener.Addr().String():                                {"remedy: address"},
		k + "http://127.0.0.1&token=a%20" + secret:                                     {"a character that tokens do not have"},
		"kubernetes://test?timeout=300ms&token=" + secret + "&server=http://" + silent: {"deadline exceeded", "remedy: connect"},
	})
	storetest.Cancelled(t, Open, "kubernetes://test?server=http://"+silent)
}

// TestInCluster has the files of a pod, and replaces the token.
func TestInCluster(t *testing.T) {
	server := kubetest.New()
	server.Tokens = map[string][]string{secret: verbs}
	web := server.StartWith(t, (*httptest.Server).StartTLS)
	host, port, err := net.SplitHostPort(web.Listener.Addr().String())
	testkit.OK(t, err)
	t.Setenv("KUBERNETES_SERVICE_HOST", host)
	t.Setenv("KUBERNETES_SERVICE_PORT", port)
	account := t.TempDir()
	write := func(name, content string) {
		t.Helper()
		testkit.OK(t, os.WriteFile(filepath.Join(account, name), []byte(content), 0o600))
	}
	_, err = open(t.Context(), "kubernetes://test", account)
	storetest.Fails(t, "the error", err, driver.ErrUnavailable, "no ca, and this is not a pod")
	write("ca.crt", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: web.Certificate().Raw})))
	_, err = open(t.Context(), "kubernetes://test", account)
	storetest.Fails(t, "the error", err, driver.ErrUnavailable, "the token", "remedy: address")
	write("token", secret+"\n")
	write("namespace", "test")
	s := testkit.Must(open(t.Context(), "kubernetes://", account))
	defer s.Close()
	if s.String() != "kubernetes://test/firn" {
		t.Errorf("String = %s", s)
	}
	rev := storetest.Put(t, s, "a", "x", driver.None)
	server.Do(func() { server.Tokens = map[string][]string{"another-" + secret: verbs} })
	_, err = s.Get(t.Context(), "a")
	storetest.Fails(t, "the error", err, driver.ErrRefused, "401: Unauthorized", "remedy: permissions")
	write("token", "another-"+secret)
	storetest.Want(t, s, "a", "x", rev)
	c := testkit.Must(s.Watch(t.Context(), ""))
	storetest.Put(t, s, "a", "y", rev)
	storetest.Told(t, "a change", c)
	write("token", "")
	storetest.Fails(t, "the error", testkit.Err(s.Get(t.Context(), "a")), driver.ErrUnavailable, "is empty")
}

// TestCertificate has a client certificate instead of a token.
func TestCertificate(t *testing.T) {
	cert, key := storetest.Certify(t)
	pair := testkit.Must(tls.LoadX509KeyPair(cert, key))
	web := kubetest.New().StartWith(t, func(s *httptest.Server) {
		s.TLS = &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: x509.NewCertPool()}
		s.TLS.ClientCAs.AddCert(pair.Leaf)
		s.StartTLS()
	})
	ca := storetest.File(t, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: web.Certificate().Raw})))
	addr := "kubernetes://test/p?server=" + web.URL + "&ca=" + ca
	storetest.Fails(t, "the error", testkit.Err(Open(t.Context(), addr)), driver.ErrUnavailable)
	s := storetest.Open(t, Open, addr+"&cert="+cert+"&key="+key)
	storetest.Want(t, s, "a", "x", storetest.Put(t, s, "a", "x", driver.None))
	_, err := Open(t.Context(), addr+"&cert="+cert+"&key="+key+"&server-name=kubernetes.default.svc")
	storetest.Fails(t, "the error", err, driver.ErrUnavailable, "remedy: address")
}

// TestErrors has an account without rights, and a server with faults.
func TestErrors(t *testing.T) {
	server := kubetest.New()
	server.Tokens = map[string][]string{secret: verbs, "reader": {"list", "get"}, "nobody": nil}
	addr := start(t, server)
	all := storetest.Open(t, Open, addr+"&timeout=1m&token="+secret)
	rev := storetest.Put(t, all, "a", "x", driver.None)
	_, err := Open(t.Context(), addr+"&token=unknown")
	storetest.Fails(t, "the error", err, driver.ErrRefused, "401", "remedy: permissions")
	_, err = Open(t.Context(), addr+"&token=nobody")
	storetest.Fails(t, "the error", err, driver.ErrRefused, "403", "cannot list", "remedy: permissions")
	reader := storetest.Open(t, Open, addr+"&token=reader")
	_, err = reader.Put(t.Context(), "b", nil, driver.None)
	storetest.Fails(t, "the error", err, driver.ErrUnavailable, "cannot create", "remedy: permissions")
	_, err = reader.Put(t.Context(), "a", nil, rev)
	storetest.Fails(t, "the error", err, driver.ErrUnavailable, "cannot update", "remedy: permissions")
	_, err = reader.Watch(t.Context(), "")
	storetest.Fails(t, "the error", err, driver.ErrUnavailable, "cannot watch", "remedy: permissions")

	// A missing namespace has no entries, and takes no entries.
	nowhere := storetest.Open(t, Open, strings.Replace(addr, "//test", "//nowhere", 1)+"&token="+secret)
	storetest.Fails(t, "the error", testkit.Err(nowhere.Get(t.Context(), "a")), driver.ErrNotFound)
	_, err = nowhere.Put(t.Context(), "a", nil, driver.None)
	storetest.Fails(t, "the error", err, driver.ErrUnavailable, `namespaces "nowhere" not found`, "remedy: create")
	storetest.Fails(t, "the error", testkit.Err(nowhere.Put(t.Context(), "a", nil, rev)), driver.ErrConflict)
	server.Do(func() { server.Namespaces["nowhere"] = "Terminating" })
	_, err = nowhere.Put(t.Context(), "a", nil, driver.None)
	storetest.Fails(t, "the error", err, driver.ErrUnavailable, "remedy: move")

	name := all.prefix + "a"
	for answer, parts := range map[*pretend.Answer][]string{
		kubetest.Status(422, "Invalid", "Lease", name, "denied by a policy"):                                    {"422: denied by a policy", "remedy: settings"},
		kubetest.Status(429, "TooManyRequests", "", "", "too many requests, please try again later"):            {"429", "remedy: settings"},
		kubetest.Status(500, "InternalError", "", "", "etcdserver: leader changed for "+secret):                 {"leader changed for (token)", "remedy: connect"},
		kubetest.Status(500, "", "", "", "rpc error: code = Unavailable desc = error reading from server: EOF"): {"500: error reading from server: EOF"},
		kubetest.Status(503, "ServiceUnavailable", "", "", "apiserver is shutting down"):                        {"503", "remedy: connect"},
		kubetest.Status(504, "Timeout", "", "", "Timeout: request did not complete within the granted timeout"): {"504"},
		kubetest.Status(404, "NotFound", "namespaces", "test", "not found"):                                     {"remedy: create"},
		kubetest.Status(404, "NotFound", "leases", "p.b", "not found"):                                          {"404"},
		kubetest.Status(409, "Conflict", "resourcequotas", "q", "the object has been modified"):                 {"409", "remedy: wait"},
		kubetest.Status(409, "Conflict", "leases", "p.b", "the object has been modified"):                       {"409"},
		kubetest.Status(409, "Conflict", "configmaps", name, "the object has been modified"):                    {"409"},
		kubetest.Status(404, "NotFound", "configmaps", name, "not found"):                                       {"404"},
		kubetest.Status(409, "AlreadyExists", "leases", name, "exists"):                                         {"409"}, // of an update
		kubetest.Status(400, "BadRequest", "", "", "no"):                                                        {"400: no", "remedy: settings"},
		pretend.Text(404, "404 page not found\n"):                                                               {"404 page not found", "remedy: address"},
		pretend.Text(502, "<html>Bad Gateway</html>"):                                                           {"502: <html>Bad Gateway"},
		pretend.Text(302, ""):                     {"302: Found", "remedy: address"},
		pretend.Text(200, "<html>welcome</html>"): {"not a Lease", "remedy: address"},
		pretend.Text(200, ""):                     {"not a Lease"},
		pretend.Text(200, "null"):                 {"not a Lease"},
		pretend.JSON(200, map[string]any{"kind": "ConfigMap", "apiVersion": "v1"}):                                                                                             {`a "ConfigMap" of "v1"`},
		pretend.JSON(200, kubetest.Object{APIVersion: apiVersion, Kind: "Lease", Metadata: kubetest.Metadata{Name: "p.b", Namespace: "test", UID: "u", ResourceVersion: "7"}}): {`about "p.b"`},
		pretend.JSON(200, kubetest.Object{APIVersion: apiVersion, Kind: "Lease", Metadata: kubetest.Metadata{Name: name, Namespace: "test"}}):                                  {"no uid"},
	} {
		answer.Header.Set("Retry-After", "3600") // a store that tries again has no time for another answer
		server.Do(func() { server.Answer = func(*http.Request) *pretend.Answer { return answer } })
		_, putErr := all.Put(t.Context(), "a", []byte("y"), rev)
		storetest.Fails(t, "the error", putErr, driver.ErrUnavailable, parts...)
		for _, err := range []error{testkit.Err(all.Get(t.Context(), "a")), testkit.Err(all.List(t.Context(), "")), putErr} {
			storetest.Fails(t, "the error", err, driver.ErrUnavailable)
			if errors.Is(err, driver.ErrConflict) || errors.Is(err, driver.ErrNotFound) {
				t.Errorf("%d %s is %v", answer.Status, answer.Body, err)
			}
		}
	}
	server.Do(func() { server.Answer = nil })
	// The API has made another change than the request asked for.
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
				testkit.OK(t, json.Unmarshal(a.Body, &made))
				change(&made)
				*a = *pretend.JSON(a.Status, made)
			}
		})
		storetest.Fails(t, "the error", testkit.Err(all.Put(t.Context(), "a", []byte("x"), rev)), driver.ErrUnsafe)
		server.Do(func() { server.Filter = nil })
		e := testkit.Must(all.Get(t.Context(), "a"))
		rev = e.Revision
	}
	storetest.Want(t, all, "a", "x", rev)
	// The API asks for another try, and the store tries again.
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
	storetest.Put(t, all, "a", "y", rev)
	if busy >= 0 {
		t.Error("the server was not asked again")
	}
	// The store does not wait for a try after its time-out.
	server.Do(func() {
		server.Answer = func(*http.Request) *pretend.Answer {
			a := kubetest.Status(429, "TooManyRequests", "", "", "later")
			a.Header.Set("Retry-After", "3600")
			return a
		}
	})
	storetest.Fails(t, "the error", testkit.Err(all.Get(t.Context(), "a")), driver.ErrUnavailable, "429: later")
}

func TestDamaged(t *testing.T) {
	server := kubetest.New()
	s := storetest.Open(t, Open, start(t, server))
	rev := storetest.Put(t, s, "a", "x", driver.None)
	for _, name := range []string{"pb", "p.zx", "p.z", "other", "p.azdb", "p.a-z"} {
		server.Set("test", name, func(*kubetest.Object) {})
	}
	server.Set("default", "p.b", func(*kubetest.Object) {})
	list, err := s.List(t.Context(), "")
	if err != nil || len(list) != 1 || list[0].Key != "a" {
		t.Errorf("List = %v, %v", list, err)
	}
	storetest.Fails(t, "the error", testkit.Err(s.Get(t.Context(), "b")), driver.ErrNotFound)
	for _, value := range []string{"!", "eA", "eB==", base64.StdEncoding.EncodeToString(make([]byte, driver.MaxValue+1))} {
		server.Set("test", "p.c", func(o *kubetest.Object) { o.Metadata.Annotations[valueAnnotation] = value })
		storetest.Damaged(t, s, "c", "p.c")
	}
	server.Delete("test", "p.c")
	server.Set("test", "p.d", func(*kubetest.Object) {})
	storetest.Fails(t, "the error", testkit.Err(s.Get(t.Context(), "d")), driver.ErrDamaged, "no annotation")
	storetest.Conflicts(t, s, "0", ".", "x.", ".1", "x", rev+"0", "0"+rev, driver.Revision(strings.Replace(string(rev), ".", ".0", 1)))
	storetest.Want(t, s, "a", "x", rev)
	// An object that is deleted and made again is another object.
	server.Delete("test", "p.a")
	storetest.Fails(t, "the error", testkit.Err(s.Put(t.Context(), "a", []byte("y"), rev)), driver.ErrConflict)
	if again := storetest.Put(t, s, "a", "x", driver.None); strings.HasPrefix(string(again), string(rev[:36])) {
		t.Errorf("%q after %q is of the same object", again, rev)
	}
	storetest.Fails(t, "the error", testkit.Err(s.Put(t.Context(), "a", []byte("y"), rev)), driver.ErrConflict)
	// A key that is too long for a name.
	long := strings.Repeat("k", 100) + "/" + strings.Repeat("k", 100) + "/" + strings.Repeat("k", 50)
	storetest.Fails(t, "the error", testkit.Err(s.Put(t.Context(), long, nil, driver.None)), driver.ErrKey, "name of 254 bytes")
	storetest.Fails(t, "the error", testkit.Err(s.Get(t.Context(), long)), driver.ErrKey)
	storetest.Put(t, s, long[:len(long)-1], "x", driver.None)
}

// TestObject looks at the object of an entry: its labels name Firn, and nothing makes controllers
// act on the object.
func TestObject(t *testing.T) {
	server := kubetest.New()
	s := storetest.Open(t, Open, start(t, server))
	rev := storetest.Put(t, s, "pool/a", "x", driver.None)
	for range 2 {
		o, ok := server.Objects()["test/p.pool.a"]
		m := o.Metadata
		if !ok || len(o.Spec) != 0 || len(m.Labels) != 2 || m.Labels[managedLabel] != "firn" || m.Labels[prefixLabel] != "p" || m.Annotations[valueAnnotation] != "eA==" ||
			driver.Revision(m.UID+"."+m.ResourceVersion) != rev || len(m.OwnerReferences) != 0 {
			t.Errorf("the object is %+v", o)
		}
		rev = storetest.Put(t, s, "pool/a", "x", rev)
	}
	// An object without labels is listed, and Put restores the labels.
	server.Set("test", "p.pool.a", func(o *kubetest.Object) { o.Metadata.Labels = nil })
	list, err := s.List(t.Context(), "pool/")
	if err != nil || len(list) != 1 {
		t.Fatalf("List = %v, %v", list, err)
	}
	storetest.Put(t, s, "pool/a", "y", list[0].Revision)
	if o := server.Objects()["test/p.pool.a"]; o.Metadata.Labels[prefixLabel] != "p" {
		t.Errorf("the object is %+v", o)
	}
}

// TestPages has the API forget pages while List reads.
func TestPages(t *testing.T) {
	server := kubetest.New()
	server.PageLimit = 3
	s := storetest.Open(t, Open, start(t, server))
	for i := range 20 {
		storetest.Put(t, s, fmt.Sprintf("pool/%02d", i), "x", driver.None)
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

// TestWriteFaults loses, delays and repeats requests that write, and the replies. The store sends each
// request once.
func TestWriteFaults(t *testing.T) {
	server := kubetest.New()
	s := storetest.Open(t, Open, start(t, server)+"&timeout=1m") // which no call reaches on a busy machine
	requests := 0
	begin := func(fault pretend.Fault) context.Context {
		requests = 0
		ctx := expiring{t.Context(), make(chan struct{})}
		server.Do(func() {
			if fault == pretend.Hang {
				server.Filter = func(*http.Request, *pretend.Answer) { close(ctx.passed) }
			}
			server.Fault = func(r *http.Request) pretend.Fault {
				if r.Method == http.MethodGet {
					return pretend.None
				}
				requests++
				return fault
			}
		})
		return ctx
	}
	end := func() { server.Do(func() { server.Fault, server.Filter = nil, nil }) }
	for _, create := range []bool{true, false} {
		for fault, done := range map[pretend.Fault]bool{pretend.Cut: false, pretend.LoseReply: true, pretend.HalfReply: true, pretend.Hang: true} {
			key, rev := fmt.Sprintf("fault-%v/%d", create, fault), driver.None
			if !create {
				rev = storetest.Put(t, s, key, "old", driver.None)
			}
			_, err := s.Put(begin(fault), key, []byte("new"), rev)
			end()
			storetest.Fails(t, "the error", err, driver.ErrUnavailable)
			if errors.Is(err, driver.ErrConflict) {
				t.Errorf("fault %d is a conflict: %v", fault, err)
			}
			if requests != 1 {
				t.Errorf("fault %d: the write was sent %d times", fault, requests)
			}
			e, err := s.Get(t.Context(), key)
			if (string(e.Value) == "new") != done || err != nil && (done || !create || !errors.Is(err, driver.ErrNotFound)) {
				t.Errorf("fault %d: %s is %q, %v; want it done: %v", fault, key, e.Value, err, done)
			}
		}
	}
	// A request that is handled twice is in conflict with itself.
	begin(pretend.Twice)
	_, err := s.Put(t.Context(), "twice", nil, driver.None)
	storetest.Fails(t, "the error", err, driver.ErrConflict)
	e := testkit.Must(s.Get(t.Context(), "twice"))
	_, err = s.Put(t.Context(), "twice", []byte("x"), e.Revision)
	end()
	storetest.Fails(t, "the error", err, driver.ErrConflict)
}

// An expiring context reaches its deadline when the channel is closed, whatever the time is.
type expiring struct {
	context.Context
	passed chan struct{}
}

func (c expiring) Done() <-chan struct{} { return c.passed }

func (c expiring) Err() error {
	select {
	case <-c.passed:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// TestSilent has a server that does not answer.
func TestSilent(t *testing.T) {
	server := kubetest.New()
	addr := start(t, server)
	var hasty *Store
	wait.Until(t, "a busy machine opens the store in time", func() bool {
		var err error
		hasty, err = Open(t.Context(), addr+"&timeout=300ms")
		return err == nil
	})
	defer hasty.Close()
	server.Do(func() { server.Fault = func(*http.Request) pretend.Fault { return pretend.Hang } })
	storetest.Fails(t, "the error", testkit.Err(hasty.Get(t.Context(), "a")), driver.ErrUnavailable, "deadline exceeded")
}

func TestWatch(t *testing.T) {
	server := kubetest.New()
	addr := start(t, server)
	s, other := storetest.Open(t, Open, addr), storetest.Open(t, Open, addr)
	rev := storetest.Put(t, other, "pool/a", "x", driver.None)
	ctx, cancel := context.WithCancel(t.Context())
	c := testkit.Must(s.Watch(ctx, "pool/"))
	change := func(what string) {
		t.Helper()
		rev = storetest.Put(t, other, "pool/a", what, rev)
		storetest.Told(t, what, c)
	}
	cut := func() { // ends all watches, and lets no watch begin
		server.Do(func() {
			server.Fault = func(r *http.Request) pretend.Fault {
				if r.URL.Query().Get("watch") != "" {
					return pretend.Cut
				}
				return pretend.None
			}
		})
		server.DropWatches()
	}
	for range 3 {
		change("a change")
	}
	// The watch ends, and a change comes before the next watch.
	cut()
	rev = storetest.Put(t, other, "pool/a", "between", rev)
	server.Do(func() { server.Fault = nil })
	storetest.Told(t, "a change between two watches", c)
	// The server forgets the change between two watches: the channel gets a value nevertheless.
	cut()
	rev = storetest.Put(t, other, "pool/a", "forgotten", rev)
	server.Forget()
	server.Do(func() { server.Fault = nil })
	storetest.Told(t, "a change that was forgotten", c)
	change("a change after that")
	// A watch ends with an error: the channel gets a value.
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
	storetest.Told(t, "an error in place of an event", c)
	// Changes elsewhere move the version of a watch, so that the version does not expire.
	storetest.Put(t, other, "elsewhere", "x", driver.None)
	change("a change after one elsewhere")
	cancel()
	wait.Closed(t, "the watch ends with its context", c)
	c = testkit.Must(s.Watch(t.Context(), ""))
	s.Close()
	wait.Closed(t, "the watch ends with its store", c)
	_, err := s.Watch(t.Context(), "")
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
		"well":         {},
		"no namespace": {change: func(s *kubetest.Server) { delete(s.Namespaces, "test") }, want: "there is no namespace test"},
		"terminating":  {change: func(s *kubetest.Server) { s.Namespaces["test"] = "Terminating" }, loses: true, want: "test is being deleted"},
		"cached": {change: func(s *kubetest.Server) {
			s.Filter = func(_ *http.Request, a *pretend.Answer) { a.Header.Set("Age", "7") }
		}, loses: true, want: "reads can be stale"},
		"no permissions":            {change: func(s *kubetest.Server) { s.Tokens = map[string][]string{"": {"get", "list", "watch"}} }, want: "may not create, update leases"},
		"an owner":                  {object: owned, loses: true, want: "1 entries have owners"},
		"deleted, with a finalizer": {object: going, loses: true, want: "1 entries are being deleted"},
		"something else's":          {object: func(o *kubetest.Object) { o.Metadata.Annotations = nil }},
	} {
		t.Run(name, func(t *testing.T) {
			server := kubetest.New()
			s := storetest.Open(t, Open, start(t, server))
			storetest.Put(t, s, "a", "x", driver.None)
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
			case c.want == "" || len(findings) != 1 || findings[0].Loses != c.loses || findings[0].Blocks != strings.HasPrefix(c.want, "may not create") || !strings.Contains(findings[0].Text, c.want):
				t.Errorf("Inspect = %v; want %q, loses: %v", findings, c.want, c.loses)
			}
			if o := server.Objects(); len(o) != 1 {
				t.Errorf("there are %d objects after Inspect", len(o))
			}
		})
	}
	server := kubetest.New()
	s := storetest.Open(t, Open, start(t, server))
	server.Do(func() {
		server.Filter = func(_ *http.Request, a *pretend.Answer) { a.Body = []byte("<html>") }
	})
	storetest.Fails(t, "the error", testkit.Err(s.Inspect(t.Context())), driver.ErrUnavailable, "remedy: address")
	s.Close()
	testkit.Is(t, testkit.Err(s.Inspect(t.Context())), os.ErrClosed, "Inspect after Close")
}
