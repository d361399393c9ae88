package kubelease

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/testing/advice"
	"github.com/firn-id/firn/internal/testing/kubetest"
	"github.com/firn-id/firn/internal/testing/minter"
	"github.com/firn-id/firn/internal/testing/pretend"
	"github.com/firn-id/firn/internal/testing/sources"
	"github.com/firn-id/firn/internal/testing/storetest"
	"github.com/firn-id/firn/internal/testing/testkit"
	leases "github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/grant"
)

// TestAdvice follows the advice of errors and findings.
func TestAdvice(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	advice.Check(t, advice.Test{
		Tables: [][]advice.Fault{addresses(t), answers(t), states(t), inspections(t)},
		Texts:  sources.Texts(t, "."),
		Least:  30,
		Unfollowed: map[string]string{
			"see that it has three servers with etcd (--cluster-init), or an external database that is safe": "a note about each K3s: the API does not say where K3s keeps its state",
		},
	})
}

// then mends a fault, and does again what failed.
func then(mend func(), again func() error) func(*testing.T) error {
	return func(*testing.T) error {
		mend()
		return again()
	}
}

// role is a part of the advice about rights.
const role = ": a Role with the verbs get, list, create, update and watch on leases of coordination.k8s.io, and a RoleBinding"

// addresses are faults of Open.
func addresses(t *testing.T) []advice.Fault {
	server := kubetest.New()
	server.Tokens = map[string][]string{secret: verbs}
	api := server.Start(t)
	cert, key := storetest.Certify(t)
	secure := kubetest.New()
	secure.Answer = func(r *http.Request) *pretend.Answer {
		if len(r.TLS.PeerCertificates) == 0 && r.Header.Get("Authorization") != "Bearer "+secret {
			return kubetest.Status(401, "Unauthorized", "", "", "Unauthorized")
		}
		return nil
	}
	inTLS := secure.StartWith(t, func(s *httptest.Server) {
		s.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
		s.StartTLS()
	})
	ca := "&ca=" + storetest.File(t, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: inTLS.Certificate().Raw})))
	web := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(web.Close)
	elsewhere := httptest.NewServer(http.RedirectHandler(api.URL, http.StatusTemporaryRedirect))
	t.Cleanup(elsewhere.Close)

	open := func(addr string) error {
		s, err := Open(t.Context(), storetest.Patient(addr))
		if err == nil {
			err = s.Close()
		}
		return err
	}
	const k = "kubernetes://test/p?server="
	token := "&token=" + secret
	right, rightTLS := k+api.URL+token, k+inTLS.URL+ca+token
	// at is a fault of an address. ways are parts of the advice, each with the address that the reader gives next.
	at := func(addr string, ways ...string) advice.Fault {
		return advice.Changed(func(_ *testing.T, addr string) error { return open(addr) }, addr, ways...)
	}
	// file is a fault of the file of a token. The reader writes the token.
	file := func(says string, spoil func(path string) error) advice.Fault {
		path := storetest.File(t, secret)
		s := storetest.Open(t, Open, k+api.URL+"&token-file="+path)
		get := func() error { return testkit.Err(s.List(t.Context(), "")) }
		return advice.Fault{Name: says, Meet: func(t *testing.T) string {
			testkit.OK(t, spoil(path))
			return advice.Text(t, get())
		}, Ways: advice.Ways{says: then(func() { testkit.OK(t, os.WriteFile(path, []byte(secret+"\n"), 0o600)) }, get)}}
	}
	known := []string{
		"look at the token", right, "(token-file)", k + api.URL + "&token-file=" + storetest.File(t, secret),
		"or at cert and key", k + inTLS.URL + ca + "&cert=" + cert + "&key=" + key,
	}
	return []advice.Fault{
		at("kubernetes://u@test/p?server="+api.URL, "give a token", right, "want kubernetes://namespace/prefix?setting=value", right),
		at("kubernetes://test/a/b?server="+api.URL, "want kubernetes://namespace/prefix?setting=value", right),
		file("see that the file is there, and can be read", os.Remove),
		file("write the token into the file", func(path string) error { return os.Truncate(path, 0) }),
		at(right+"%20x", "give the token alone, without spaces and line breaks", right),
		at(k+api.URL, known...),
		at(k+api.URL+"&token=another", known...),
		at(k+web.URL, "see that server is the API of Kubernetes, 1.14 or later, without a path", right),
		at(k+elsewhere.URL, "see that server is the API server", right),
		at(k+"http://"+inTLS.Listener.Addr().String(), "see that server begins with https://, if it speaks TLS", rightTLS),
		at(k+"http://"+alerting(t), "see that the API server listens there, and that server begins with https://, if it speaks TLS", rightTLS),
		at(k+"https://"+api.Listener.Addr().String(), "see that the port is right", rightTLS, "or use http:// for a proxy on this machine", right),
		at(rightTLS+"&server-name=another", "look at the server's certificate, and at ca and server-name", rightTLS+"&server-name=example.com"),
		at(k+inTLS.URL+token, "give the file of the authority that has signed the server's certificate: ca", rightTLS),
		at(k+"http://"+storetest.Gone(t), "see that the API server runs there, and that the port is right", right),
	}
}

// alerting returns the address of a server that answers requests without TLS by an alert of TLS, unlike servers in Go.
func alerting(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.OK(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
				io.WriteString(conn, "\x15\x03\x01\x00\x02\x02\x46")
			}
			conn.Close()
		}
	}()
	return l.Addr().String()
}

// answers are faults of a server that refuses requests, or that is not the API.
func answers(t *testing.T) []advice.Fault {
	server := kubetest.New()
	s := storetest.Open(t, Open, start(t, server))
	n := 0
	put := func() error {
		n++
		_, err := s.Put(t.Context(), fmt.Sprintf("put-%d", n), nil, driver.None)
		return err
	}
	answer := func(a *pretend.Answer) {
		server.Do(func() {
			server.Answer = nil
			if a != nil {
				a.Header.Set("Retry-After", "3600") // the store has no time for another answer
				server.Answer = func(*http.Request) *pretend.Answer { return a }
			}
		})
	}
	// refusal is an answer to each request, until the reader has found out about the answer.
	refusal := func(a *pretend.Answer, says ...string) advice.Fault {
		f := advice.Fault{Name: string(a.Body), Meet: func(t *testing.T) string {
			answer(a)
			return advice.Text(t, put())
		}, Ways: advice.Ways{}}
		for _, part := range says {
			f.Ways[part] = then(func() { answer(nil) }, put)
		}
		return f
	}
	denied := func(code int, reason, message string) *pretend.Answer {
		return kubetest.Status(code, reason, "leases", s.prefix+"a", `leases.coordination.k8s.io "p.a" is forbidden: `+message)
	}
	const (
		policy  = "see which policy or webhook refuses it, and what for"
		between = "see that the API of Kubernetes answers there, and what is between here and the API"
		up      = "see that the API server and its etcd are up"
	)
	all := []advice.Fault{
		refusal(denied(422, "Invalid", "ValidatingAdmissionPolicy 'x' with binding 'y' denied request: no"), policy),
		refusal(denied(403, "Forbidden", "ValidatingAdmissionPolicy 'x' with binding 'y' denied request: no"), policy),
		refusal(kubetest.Status(403, "Forbidden", "", "", `admission webhook "x" denied the request: no`), policy),
		refusal(denied(403, "Forbidden", "exceeded quota: q, requested: count/leases.coordination.k8s.io=1, used: count/leases.coordination.k8s.io=9, limited: count/leases.coordination.k8s.io=9"),
			"raise the quota of leases in the namespace test"),
		refusal(kubetest.Status(409, "Conflict", "resourcequotas", "q", "the object has been modified"), "try again"),
		refusal(kubetest.Status(429, "TooManyRequests", "", "", "too many requests, please try again later"), "see what makes so many requests",
			"or give this one a FlowSchema whose PriorityLevelConfiguration has more room"),
		refusal(kubetest.Status(503, "ServiceUnavailable", "", "", "apiserver is shutting down"), up),
		refusal(kubetest.Status(400, "BadRequest", "", "", "no"), "see what the API server says in its log"),
		refusal(pretend.Text(403, "<html>Forbidden</html>"), between),
		refusal(pretend.Text(200, "<html>welcome</html>"), between),
		{Name: "a connection that is cut", Meet: func(t *testing.T) string {
			server.Do(func() { server.Fault = func(*http.Request) pretend.Fault { return pretend.Cut } })
			return advice.Text(t, put())
		}, Ways: advice.Ways{"see that the API server runs there and answers, and that the network lets you through": then(func() { server.Do(func() { server.Fault = nil }) }, put)}},
		{Name: "no answer", Meet: func(t *testing.T) string {
			server.Do(func() { server.Fault = func(*http.Request) pretend.Fault { return pretend.Hang } })
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
			defer cancel()
			return advice.Text(t, testkit.Err(s.Get(ctx, "a")))
		}, Ways: advice.Ways{up: then(func() { server.Do(func() { server.Fault = nil }) }, put)}},
		{Name: "a server that forgets", Meet: func(t *testing.T) string {
			answer(kubetest.Status(410, "Expired", "", "", "The provided continue parameter is too old"))
			return advice.Text(t, testkit.Err(s.List(t.Context(), "")))
		}, Ways: advice.Ways{"try again": then(func() { answer(nil) }, func() error { return testkit.Err(s.List(t.Context(), "")) })}},
		{Name: "another object", Meet: func(t *testing.T) string {
			rev := storetest.Put(t, s, "another", "x", driver.None)
			server.Do(func() {
				server.Filter = func(r *http.Request, a *pretend.Answer) {
					a.Body = bytes.ReplaceAll(a.Body, []byte(`"uid":"5`), []byte(`"uid":"6`))
				}
			})
			return advice.Text(t, testkit.Err(s.Put(t.Context(), "another", nil, rev)))
		}, Ways: advice.Ways{"see that Kubernetes answers there, and what is between here and Kubernetes": func(t *testing.T) error {
			server.Do(func() { server.Filter = nil })
			e, err := s.Get(t.Context(), "another")
			if err == nil {
				_, err = s.Put(t.Context(), "another", nil, e.Revision)
			}
			return err
		}}},
	}
	return append(all, changing(server, s))
}

// changing is a webhook that takes annotations away.
func changing(server *kubetest.Server, s *Store) advice.Fault {
	return advice.Fault{Name: "a webhook that changes leases", Meet: func(t *testing.T) string {
		server.Do(func() {
			server.Change = func(_ *http.Request, body *[]byte) {
				*body = bytes.ReplaceAll(*body, []byte(`"`+valueAnnotation+`"`), []byte(`"another"`))
			}
		})
		return advice.Text(t, minter.Create(t.Context(), s))
	}, Ways: advice.Ways{
		"see which webhook or policy changes leases (kubectl get mutatingwebhookconfigurations); then rescue the pool (lease.Rescue), which makes the entry again": func(t *testing.T) error {
			server.Do(func() { server.Change = nil })
			c := lost(t)
			c.Create = false
			return rescued(t, s, c)
		},
	}}
}

// rescued rescues the pool of package minter, and leases a worker.
func rescued(t *testing.T, s driver.Store, c leases.RescueConfig) error {
	c.Window, c.Skew = time.Millisecond, time.Millisecond // no lease is alive
	_, err := leases.Rescue(t.Context(), s, minter.Pool, c)
	return errors.Join(err, leased(t, s, leases.Choice{}))
}

// lost are the settings of a rescue for a pool without any record.
func lost(t *testing.T) leases.RescueConfig {
	spec, err := new(minter.Generator).Pool()
	testkit.OK(t, err)
	return leases.RescueConfig{Layouts: []grant.Layout{spec.Layout}, Create: true}
}

// leased leases a worker of the pool.
func leased(t *testing.T, s driver.Store, worker leases.Choice) error {
	_, l, err := minter.Start(t.Context(), s, leases.Config{Worker: worker})
	if err == nil {
		err = l.Close()
	}
	return err
}

// states are faults of objects, of namespaces and of accounts.
func states(t *testing.T) []advice.Fault {
	server := kubetest.New()
	addr := start(t, server)
	s := storetest.Open(t, Open, addr)
	in := func(namespace string) *Store {
		return storetest.Open(t, Open, strings.Replace(addr, "//test", "//"+namespace, 1))
	}
	const worker = minter.Pool + "/workers/00007"
	account := storetest.Open(t, Open, addr+"&token="+secret)
	put := func() error { return testkit.Err(account.Put(t.Context(), "a", nil, driver.None)) }
	allow := func(verbs ...string) {
		server.Do(func() { server.Tokens = map[string][]string{"": verbs, secret: verbs} })
	}
	nowhere := in("nowhere")
	going := in("going")
	return []advice.Fault{
		{Name: "a damaged entry", Meet: func(t *testing.T) string {
			testkit.OK(t, minter.Create(t.Context(), s))
			testkit.OK(t, leased(t, s, leases.Number(7)))
			server.Set("test", testkit.Must(s.name(worker)), func(o *kubetest.Object) { o.Metadata.Annotations[valueAnnotation] = "!" })
			return advice.Text(t, testkit.Err(s.Get(t.Context(), worker)))
		}, Ways: advice.Ways{"see what has written it; then rescue the pool (lease.Rescue), which makes the entry again": func(t *testing.T) error {
			err := rescued(t, s, leases.RescueConfig{})
			return errors.Join(err, leased(t, s, leases.Number(7)), testkit.Err(s.Get(t.Context(), worker)))
		}}},
		{Name: "no right", Meet: func(t *testing.T) string {
			allow("get", "list", "watch")
			return advice.Text(t, put())
		}, Ways: advice.Ways{"let the service account create leases in the namespace test" + role: then(func() { allow(verbs...) }, put)}},
		{Name: "no namespace", Meet: func(t *testing.T) string { return advice.Text(t, minter.Create(t.Context(), nowhere)) }, Ways: advice.Ways{
			"see that the address is right": func(t *testing.T) error { return leased(t, s, leases.Choice{}) },
			"or create the namespace: kubectl create namespace nowhere": then(func() { server.Do(func() { server.Namespaces["nowhere"] = "Active" }) },
				func() error { return minter.Create(t.Context(), nowhere) }),
			"rescue each instead of creating it (lease.Rescue, with Layouts and Create)": func(t *testing.T) error {
				server.Delete("nowhere", testkit.Must(nowhere.name(minter.Pool+"/pool"))) // as if the reader had not tried the other way
				return rescued(t, nowhere, lost(t))
			},
		}},
		{Name: "a namespace that is deleted", Meet: func(t *testing.T) string {
			server.Do(func() { server.Namespaces["going"] = "Terminating" })
			return advice.Text(t, minter.Create(t.Context(), going))
		}, Ways: advice.Ways{"stop all processes that use this one, and rescue its pools there": func(t *testing.T) error {
			return errors.Join(going.Close(), rescued(t, in("default"), lost(t)))
		}}},
	}
}

// inspections are faults that Inspect finds.
func inspections(t *testing.T) []advice.Fault {
	server := kubetest.New()
	for _, namespace := range []string{"kube-system", "going", "new", "newer"} {
		server.Namespaces[namespace] = "Active"
	}
	url := server.Start(t).URL
	in := func(namespace, prefix string) *Store {
		return storetest.Open(t, Open, "kubernetes://"+namespace+"/"+prefix+"?server="+url)
	}
	s := in("test", "p")
	storetest.Put(t, s, "a", "x", driver.None)

	inspect := func(s *Store) (texts []string, err error) {
		found, err := s.Inspect(t.Context())
		for _, f := range found {
			texts = append(texts, f.Text+": "+f.Advice)
		}
		return texts, err
	}
	well := func(s *Store) error {
		texts, err := inspect(s)
		if len(texts) > 0 {
			err = fmt.Errorf("%q", texts)
		}
		return err
	}
	// found is a fault that Inspect finds.
	found := func(name string, s *Store, begin func(), ways advice.Ways) advice.Fault {
		return advice.Fault{Name: name, Meet: func(t *testing.T) string {
			begin()
			texts, err := inspect(s)
			if err != nil || len(texts) != 1 {
				t.Fatalf("Inspect = %q, %v", texts, err)
			}
			return texts[0]
		}, Ways: ways}
	}
	// mended is a fault of the store s with one way, which ends the fault.
	mended := func(says string, begin, end func()) advice.Fault {
		return found(says, s, begin, advice.Ways{says: then(end, func() error { return well(s) })})
	}
	change := func(f func()) func() { return func() { server.Do(f) } }
	object := func(name string, change func(o *kubetest.Object)) func() {
		return func() { server.Set("test", name, change) }
	}
	moved := func(namespace string) advice.Ways {
		there := in(namespace, "p")
		return advice.Ways{"stop all processes that use this one, and rescue its pools there": func(t *testing.T) error {
			return errors.Join(rescued(t, there, lost(t)), well(there))
		}}
	}
	missing := func(sees bool) advice.Fault {
		namespace := fmt.Sprintf("missing-%v", sees)
		there := in(namespace, "p")
		return found("no "+namespace, there, change(func() { server.SeeSpaces = sees }), advice.Ways{
			"see that the address is right": func(t *testing.T) error { return well(s) },
			"or create the namespace: kubectl create namespace " + namespace: then(change(func() { server.Namespaces[namespace] = "Active" }),
				func() error { return well(there) }),
			"rescue each instead of creating it (lease.Rescue, with Layouts and Create)": func(t *testing.T) error {
				return errors.Join(rescued(t, there, lost(t)), well(there))
			},
		})
	}
	deleted := in("test", "deleted")
	version := server.Version
	return []advice.Fault{
		missing(false),
		missing(true),
		mended("let requests go to the API server itself", change(func() {
			server.Filter = func(_ *http.Request, a *pretend.Answer) { a.Header.Set("Age", "7") }
		}), change(func() { server.Filter = nil })),
		mended("upgrade it", change(func() { server.Version = `{"major":"1","minor":"13+","gitVersion":"v1.13.2"}` }), change(func() { server.Version = version })),
		mended("let the service account create, update leases in the namespace test"+role,
			change(func() { server.Tokens = map[string][]string{"": {"get", "list", "watch"}} }), change(func() { server.Tokens = nil })),
		mended("bind the account to the ClusterRoles system:basic-user and system:discovery", change(func() {
			server.Answer = func(r *http.Request) *pretend.Answer {
				if !strings.Contains(r.URL.Path, "selfsubjectaccessreviews") {
					return nil
				}
				return kubetest.Status(403, "Forbidden", "selfsubjectaccessreviews", "", "selfsubjectaccessreviews.authorization.k8s.io is forbidden")
			}
		}), change(func() { server.Answer = nil })),
		mended("see what has set metadata.ownerReferences, and take them out",
			object("p.a", func(o *kubetest.Object) { o.Metadata.OwnerReferences = []map[string]any{{"kind": "Pod", "name": "x"}} }),
			object("p.a", func(o *kubetest.Object) { o.Metadata.OwnerReferences = nil })),
		mended("have it use a separate prefix", object("p.another", func(*kubetest.Object) {}), func() { server.Delete("test", "p.another") }),
		found("an entry that is deleted", deleted, func() {
			testkit.OK(t, minter.Create(t.Context(), deleted))
			server.Set("test", "deleted.minter.pool", func(o *kubetest.Object) { o.Metadata.DeletionTimestamp = "2026-01-01T00:00:00Z" })
		}, advice.Ways{
			"see what has deleted them, and what keeps them (metadata.finalizers); when they are gone, rescue their pools (lease.Rescue, with Layouts and Create if a pool is gone)": func(t *testing.T) error {
				server.Delete("test", "deleted.minter.pool")
				return errors.Join(rescued(t, deleted, lost(t)), well(deleted))
			},
		}),
		found("a namespace of Kubernetes", in("kube-system", "p"), func() {}, moved("new")),
		found("a namespace that is deleted", in("going", "p"), change(func() { server.Namespaces["going"] = "Terminating" }), moved("newer")),
	}
}
