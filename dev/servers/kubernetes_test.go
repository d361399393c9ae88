package servers_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/firn-id/firn/internal/testing/minter"
	"github.com/firn-id/firn/internal/testing/servertest"
	"github.com/firn-id/firn/internal/testing/storetest"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/drivertest"
	"github.com/firn-id/firn/lease/kubelease"
)

// namespace is the namespace of the stores.
const namespace = "test"

func TestKubernetes(t *testing.T) {
	k := servertest.NewKubernetes(t)
	token := testkit.Must(k.Account(t.Context(), namespace))

	t.Run("Driver", func(t *testing.T) {
		var spaces atomic.Int64
		drivertest.Run(t, func(t *testing.T) func() driver.Store {
			prefix := fmt.Sprintf("p%d", spaces.Add(1))
			return func() driver.Store {
				s := testkit.Must(kubelease.Open(t.Context(), k.Address(namespace, prefix, token)))
				return s
			}
		}, token)
	})

	t.Run("Role", func(t *testing.T) { kubernetesRole(t, k, token) })
	t.Run("Page", func(t *testing.T) { kubernetesPage(t, k) })
	t.Run("Errors", func(t *testing.T) { kubernetesErrors(t, k, token) })
	t.Run("Faults", func(t *testing.T) { kubernetesFaults(t, k, token) })
}

// The Role that firn pool permissions prints suffices. Without any of the verbs, the Role does not suffice.
func kubernetesRole(t *testing.T, k *servertest.Kubernetes, token string) {
	open := func(addr string) *kubelease.Store { return storetest.Open(t, kubelease.Open, addr) }
	s := open(k.Address(namespace, "everything", token))
	testkit.OK(t, minter.Create(t.Context(), s))
	testkit.OK(t, testkit.Err(storetest.Program(t.Context(), s)))
	testkit.OK(t, testkit.Err(lease.RecoverPool(t.Context(), s, minter.Pool, lease.RecoveryConfig{})))
	findings, err := s.Inspect(t.Context())
	if err != nil || len(findings) > 0 {
		t.Errorf("Inspect = %v, %v; want nothing", findings, err)
	}
	for verb, needs := range map[string]func(*kubelease.Store) error{
		"get": func(s *kubelease.Store) error { _, err := s.Get(t.Context(), "a"); return err },
		"create": func(s *kubelease.Store) error {
			_, err := s.Put(t.Context(), "new", nil, driver.None)
			return err
		},
		"update": func(s *kubelease.Store) error {
			e := testkit.Must(s.Get(t.Context(), "a"))
			_, err = s.Put(t.Context(), "a", nil, e.Revision)
			return err
		},
		"watch": func(s *kubelease.Store) error { _, err := s.Watch(t.Context(), ""); return err },
		"list":  nil,
	} {
		t.Run(verb, func(t *testing.T) {
			namespace := "without-" + verb
			whole := testkit.Must(k.Account(t.Context(), namespace))
			_, err = open(k.Address(namespace, "p", whole)).Put(t.Context(), "a", []byte("x"), driver.None)
			testkit.OK(t, err)
			token := testkit.Must(k.Account(t.Context(), namespace, verb))
			says := []string{"403", "cannot " + verb + " resource", "remedy: permissions"}
			s, err := kubelease.Open(t.Context(), k.Address(namespace, "p", token))
			if verb == "list" {
				wantError(t, err, driver.ErrUnavailable, token, says...)
				return
			}
			testkit.OK(t, err)
			defer s.Close()
			wantError(t, needs(s), driver.ErrUnavailable, token, says...)
			findings, err := s.Inspect(t.Context())
			if err != nil || verb != "watch" && !strings.Contains(fmt.Sprint(findings), "this account may not "+verb+" leases") {
				t.Errorf("Inspect = %v, %v", findings, err)
			}
		})
	}
}

// Kubernetes takes each object of docs/deploy.md, and refuses an object with a setting that it does not know.
func kubernetesPage(t *testing.T, k *servertest.Kubernetes) {
	collections := map[string]string{
		"ServiceAccount": "/api/v1/namespaces/default/serviceaccounts", "ConfigMap": "/api/v1/namespaces/default/configmaps",
		"Service": "/api/v1/namespaces/default/services", "Job": "/apis/batch/v1/namespaces/default/jobs",
		"Deployment":  "/apis/apps/v1/namespaces/default/deployments",
		"Role":        "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles",
		"RoleBinding": "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings",
	}
	create := func(kind, object string) error {
		return k.Do(t.Context(), "POST", collections[kind]+"?dryRun=All&fieldValidation=Strict", "application/yaml", object, nil)
	}
	page := testkit.Must(os.ReadFile("../../docs/deploy.md"))
	tried := make(map[string]int)
	for _, block := range strings.Split(string(page), "\n```yaml\n")[1:] {
		block, _, _ = strings.Cut(block, "\n```\n")
		for object := range strings.SplitSeq(block, "\n---\n") {
			kind := kindOf.FindStringSubmatch(object)
			if kind == nil {
				continue // of Compose
			}
			tried[kind[1]]++
			if err := create(kind[1], object); collections[kind[1]] == "" || err != nil {
				t.Errorf("%v\n%s", err, object)
			}
			if create(kind[1], object+"\nunknown: 1\n") == nil {
				t.Errorf("an unknown setting is taken in\n%s", object)
			}
		}
	}
	if len(tried) != len(collections) {
		t.Errorf("the page has %v", tried)
	}
}

var kindOf = regexp.MustCompile(`(?m)^kind: (\w+)`)

func kubernetesErrors(t *testing.T, k *servertest.Kubernetes, token string) {
	at := func(namespace, token string, settings ...string) string {
		return k.Address(namespace, "errors", token) + strings.Join(settings, "")
	}
	// A deleted namespace stays in deletion, since no controller removes its objects.
	going := testkit.Must(k.Account(t.Context(), "going"))
	s := storetest.Open(t, kubelease.Open, at("going", going))
	rev := testkit.Must(s.Put(t.Context(), "a", []byte("x"), driver.None))
	testkit.OK(t, k.Do(t.Context(), "DELETE", "/api/v1/namespaces/going", "", "", nil))
	_, err := s.Put(t.Context(), "b", []byte("x"), driver.None)
	wantError(t, err, driver.ErrUnavailable, going, "being terminated", "remedy: move")
	if _, err = s.Put(t.Context(), "a", []byte("y"), rev); err != nil && !errors.Is(err, driver.ErrUnavailable) {
		t.Errorf("a change in a namespace that is deleted: %v", err)
	}
	findings, err := s.Inspect(t.Context())
	if err != nil || len(findings) == 0 || !findings[0].Loses || !strings.Contains(findings[0].Text, "is being deleted") {
		t.Errorf("Inspect of a namespace that is deleted = %v, %v", findings, err)
	}

	wrong := "eyJhbGciOiJSUzI1NiJ9.e30.AAAA"
	for addr, parts := range map[string][]string{
		at(namespace, wrong):   {"401", "remedy: permissions"},
		at("elsewhere", token): {"403", "remedy: permissions"},
		strings.Replace(at(namespace, ""), "server=https", "server=http", 1): {"http://", "goes without tls"},
		"kubernetes://test/p?server=http://" + k.Endpoint():                  {"400", "remedy: address"},
		"kubernetes://test/p?server=https://" + k.Endpoint():                 {"remedy: address"},
	} {
		s, err := kubelease.Open(t.Context(), addr)
		if err == nil {
			s.Close()
			t.Errorf("%s was opened", addr)
			continue
		}
		wantError(t, err, driver.ErrUnavailable, token, parts...)
	}
	// An administrator can open a store in a namespace that does not exist, and can make no entry.
	anyone := storetest.Open(t, kubelease.Open, at("nowhere", k.Admin()))
	_, err = anyone.Put(t.Context(), "a", nil, driver.None)
	wantError(t, err, driver.ErrUnavailable, k.Admin(), "404", "remedy: create")
	findings, err = anyone.Inspect(t.Context())
	if err != nil || !strings.Contains(fmt.Sprint(findings), "there is no namespace nowhere") {
		t.Errorf("Inspect of a namespace that is not there = %v, %v", findings, err)
	}
}

func kubernetesFaults(t *testing.T, k *servertest.Kubernetes, token string) {
	open := func(addr string) *kubelease.Store { return storetest.Open(t, kubelease.Open, addr) }
	var stores []driver.Store
	for range 4 {
		stores = append(stores, open(k.Address(namespace, "faults", token)+"&timeout=2s"))
	}
	watcher := open(k.Address(namespace, "faults", token))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	changes := testkit.Must(watcher.Watch(ctx, "w/"))
	others := testkit.Must(watcher.Watch(ctx, "other/"))
	healthy := func() { testkit.OK(t, k.WaitHealthy(t.Context())) }
	testkit.OK(t, survive(t.Context(), stores, func() {
		k.Kill()
		testkit.OK(t, k.Restart())
		healthy()
	}, func() {
		testkit.OK(t, k.Stop())
		testkit.OK(t, k.Continue())
	}, func() {
		k.Etcd.Kill(0)
		testkit.OK(t, k.Etcd.Restart(0))
		testkit.OK(t, k.Etcd.WaitHealthy(t.Context()))
		healthy()
	}, func() {
		k.Kill()
		k.Etcd.Kill(0)
		testkit.OK(t, k.Etcd.Restart(0))
		testkit.OK(t, k.Restart())
		healthy()
	}))
	told := 0
	rev := watched(t, watcher, "w/0", changes, func() {
		select {
		case <-others: // after a lost connection, a watch may tell once or twice without a change
			told++
		default:
		}
	})
	if told > watchedTimes/2 {
		t.Errorf("a watch tells %d times of changes of what it does not watch", told)
	}

	// Without etcd nothing is acknowledged, and the error says why.
	k.Etcd.Kill(0)
	hasty := stores[0]
	_, err := hasty.Put(t.Context(), "w/0", []byte("1"), rev)
	wantError(t, err, driver.ErrUnavailable, token, "remedy: connect")
	_, err = hasty.Get(t.Context(), "w/0")
	wantError(t, err, driver.ErrUnavailable, token, "remedy: connect")
	testkit.OK(t, k.Etcd.Restart(0))
	healthy()
}
