package drivertest

import (
	"encoding/json"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/firn-id/firn/internal/testing/consultest"
	"github.com/firn-id/firn/internal/testing/kubetest"
	"github.com/firn-id/firn/internal/testing/pretend"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/internal/testing/turn"
	"github.com/firn-id/firn/lease/consullease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/kubelease"
)

const (
	tokenOfTests   = "a-token-of-a-test"
	mutantVariable = "FIRN_DRIVERTEST_MUTANT"
)

func init() { os.Setenv("FIRN_TEST_TOKEN", tokenOfTests) } // for all tests, so that tests can be parallel

// A mutant changes the requests of a store and the answers, as if the store had the defect.
type mutant[S any] struct {
	name   string
	caught []string // by which tests, all of which have to fail
	make   func(S)
}

// apply changes a server into the mutant in the environment.
func apply[S any](mutants []mutant[S], server S) {
	for _, m := range mutants {
		if m.name == os.Getenv(mutantVariable) {
			m.make(server)
		}
	}
}

// kill shows that the suite finds each mutant.
func kill[S any](t *testing.T, test string, mutants []mutant[S]) {
	turn.Take(t)
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			if out := caught(t, test, mutantVariable+"="+m.name, m.caught, "String"); !strings.Contains(out, "--- PASS: "+test+"/String ") {
				t.Errorf("it cannot even write: %s", out)
			}
		})
	}
}

func consulSpace(t *testing.T) func() driver.Store {
	server := consultest.New()
	server.Tokens = map[string]consultest.Policy{tokenOfTests: {Read: consultest.All, Write: consultest.All}}
	apply(consulMutants, server)
	host := server.Start(t).Listener.Addr().String()
	return func() driver.Store {
		return testkit.Must(consullease.Open(t.Context(), "consul://"+host+"/test/firn?token-env=FIRN_TEST_TOKEN"))
	}
}

func TestConsul(t *testing.T) { Run(t, consulSpace, tokenOfTests) }

func TestConsulLeases(t *testing.T) {
	t.Parallel()
	RunLeases(t, consulSpace)
}

func TestConsulMutants(t *testing.T) { kill(t, "TestConsul", consulMutants) }

const note = "X-Test-Note" // carries a part of a request to the answer

var (
	flags       = regexp.MustCompile(`"Flags":\d+`)
	transaction = "/v1/txn"
)

var consulMutants = []mutant[*consultest.Server]{
	{"writes without cas", []string{"Missing", "Create", "Swap", "Revisions", "OtherRevision", "Handles", "Race", "Counter", "History"}, func(s *consultest.Server) {
		s.Change = func(_ *http.Request, body *[]byte) {
			*body = []byte(strings.Replace(string(*body), `"Verb":"cas"`, `"Verb":"set"`, 1))
		}
	}},
	{"creates without cas", []string{"Create", "Race"}, func(s *consultest.Server) {
		s.Change = func(_ *http.Request, body *[]byte) {
			if strings.Contains(string(*body), `"Index":0`) {
				*body = []byte(strings.Replace(string(*body), `"Verb":"cas"`, `"Verb":"set"`, 1))
			}
		}
	}},
	{"takes a transaction that was rolled back for done", []string{"Missing", "Create", "Swap", "Race"}, func(s *consultest.Server) {
		s.Change = func(r *http.Request, body *[]byte) { r.Header.Set(note, string(*body)) }
		s.Filter = func(r *http.Request, a *pretend.Answer) {
			if r.URL.Path == transaction && a.Status == http.StatusConflict {
				var ops []struct{ KV consultest.Pair }
				json.Unmarshal([]byte(r.Header.Get(note)), &ops)
				ops[0].KV.ModifyIndex = 1 << 40
				*a = *pretend.JSON(http.StatusOK, map[string]any{"Results": ops})
			}
		}
	}},
	{"reads without consistent", []string{"Create", "Swap", "Handles", "Race", "History"}, func(s *consultest.Server) {
		s.Change = func(r *http.Request, _ *[]byte) {
			query := r.URL.Query()
			query.Del("consistent")
			r.URL.RawQuery = query.Encode()
		}
	}},
	{"writes with the same flags", []string{"Swap"}, func(s *consultest.Server) {
		s.Change = func(r *http.Request, body *[]byte) {
			r.Header.Set(note, flags.FindString(string(*body)))
			*body = flags.ReplaceAll(*body, []byte(`"Flags":1`))
		}
		s.Filter = func(r *http.Request, a *pretend.Answer) {
			if r.URL.Path == transaction {
				a.Body = flags.ReplaceAll(a.Body, []byte(r.Header.Get(note)))
			}
		}
	}},
}

func kubernetesSpace(t *testing.T) func() driver.Store {
	server := kubetest.New()
	server.Tokens = map[string][]string{tokenOfTests: {"get", "list", "create", "update"}}
	server.PageLimit = 7
	apply(kubernetesMutants, server)
	url := server.Start(t).URL
	return func() driver.Store {
		return testkit.Must(kubelease.Open(t.Context(), "kubernetes://test/firn?token-env=FIRN_TEST_TOKEN&server="+url))
	}
}

func TestKubernetes(t *testing.T) { Run(t, kubernetesSpace, tokenOfTests) }

func TestKubernetesLeases(t *testing.T) {
	t.Parallel()
	RunLeases(t, kubernetesSpace)
}

func TestKubernetesMutants(t *testing.T) { kill(t, "TestKubernetes", kubernetesMutants) }

// written changes the object that a request writes.
func written(body *[]byte, change func(*kubetest.Object)) {
	var o kubetest.Object
	if json.Unmarshal(*body, &o) == nil && o.Kind == "Lease" {
		change(&o)
		*body, _ = json.Marshal(o)
	}
}

const writeAnnotation = "firn.id/write"

var kubernetesMutants = []mutant[*kubetest.Server]{
	{"writes whatever the version", []string{"Swap", "Revisions", "OtherRevision", "Handles", "Race", "Counter", "History"}, func(s *kubetest.Server) {
		s.Change = func(_ *http.Request, body *[]byte) {
			written(body, func(o *kubetest.Object) {
				if is := s.Objects()["test/"+o.Metadata.Name]; o.Metadata.UID != "" {
					o.Metadata.UID, o.Metadata.ResourceVersion = is.Metadata.UID, is.Metadata.ResourceVersion
				}
			})
		}
	}},
	{"writes whatever the object", []string{"Missing"}, func(s *kubetest.Server) {
		s.Change = func(_ *http.Request, body *[]byte) {
			written(body, func(o *kubetest.Object) { o.Metadata.UID = "" })
		}
	}},
	{"takes a conflict for done", []string{"Create", "Swap", "Race"}, func(s *kubetest.Server) {
		s.Change = func(r *http.Request, body *[]byte) { r.Header.Set(note, string(*body)) }
		s.Filter = func(r *http.Request, a *pretend.Answer) {
			if a.Status == http.StatusConflict {
				body := []byte(r.Header.Get(note))
				written(&body, func(o *kubetest.Object) {
					if o.Metadata.UID == "" {
						o.Metadata.UID = "5f0e1c9a"
					}
					o.Metadata.ResourceVersion = "1" + o.Metadata.ResourceVersion
				})
				a.Status, a.Body = http.StatusOK, body
			}
		}
	}},
	{"reads with resourceVersion=0", []string{"Create", "Swap", "Handles", "Race", "History"}, func(s *kubetest.Server) {
		s.Change = func(r *http.Request, _ *[]byte) {
			if r.Method == http.MethodGet {
				query := r.URL.Query()
				query.Set("resourceVersion", "0")
				r.URL.RawQuery = query.Encode()
			}
		}
	}},
	{"lists the first page", []string{"List", "ListMany"}, func(s *kubetest.Server) {
		more := regexp.MustCompile(`"continue":"[^"]*"`)
		s.Filter = func(_ *http.Request, a *pretend.Answer) {
			a.Body = more.ReplaceAll(a.Body, []byte(`"continue":""`))
		}
	}},
	{"writes the same again as it is", []string{"Swap"}, func(s *kubetest.Server) {
		s.Change = func(r *http.Request, body *[]byte) {
			written(body, func(o *kubetest.Object) {
				r.Header.Set(note, o.Metadata.Annotations[writeAnnotation])
				o.Metadata.Annotations[writeAnnotation] = "same"
			})
		}
		s.Filter = func(r *http.Request, a *pretend.Answer) {
			written(&a.Body, func(o *kubetest.Object) { o.Metadata.Annotations[writeAnnotation] = r.Header.Get(note) })
		}
	}},
}
