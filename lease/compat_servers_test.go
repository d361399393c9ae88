package lease

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firn-id/firn/internal/testing/consultest"
	"github.com/firn-id/firn/internal/testing/kubetest"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/consullease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/kubelease"
)

// A compatServer is a server that pretends, with the store of this version.
type compatServer struct {
	open func(ctx context.Context) (driver.Store, error)
	dump func() any                 // what the server has, with constants for what differs from write to write
	load func(content []byte) error // puts a dump into the server
}

// store returns a store in the server.
func (s compatServer) store(t *testing.T) driver.Store {
	t.Helper()
	store := testkit.Must(s.open(t.Context()))
	t.Cleanup(func() { store.Close() })
	return store
}

// write puts entries into the server, by the store.
func (s compatServer) write(t *testing.T, entries compatEntries) {
	t.Helper()
	store := s.store(t)
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		put(t, store, key, entries[key])
	}
}

// compatServers are the servers by the files of their dumps.
var compatServers = map[string]func(t *testing.T) compatServer{"consul.json": compatConsul, "kubernetes.json": compatKube}

type compatPair struct {
	Key   string
	Flags uint64
	Value []byte
}

func compatConsul(t *testing.T) compatServer {
	server := consultest.New()
	address := "consul://" + server.Start(t).Listener.Addr().String() + "/ids"
	return compatServer{
		open: func(ctx context.Context) (driver.Store, error) { return consullease.Open(ctx, address) },
		dump: func() any {
			pairs := []compatPair{}
			all := server.Pairs()
			for _, key := range slices.Sorted(maps.Keys(all)) {
				pairs = append(pairs, compatPair{key, 12345, all[key].Value})
			}
			return pairs
		},
		load: func(content []byte) error {
			var pairs []compatPair
			err := json.Unmarshal(content, &pairs)
			for _, p := range pairs {
				server.Set(p.Key, func(to *consultest.Pair) { to.Flags, to.Value = p.Flags, p.Value })
			}
			return err
		},
	}
}

func compatKube(t *testing.T) compatServer {
	server := kubetest.New()
	address := "kubernetes://test/ids?server=" + server.Start(t).URL
	return compatServer{
		open: func(ctx context.Context) (driver.Store, error) { return kubelease.Open(ctx, address) },
		dump: func() any {
			objects := []kubetest.Object{}
			all := server.Objects()
			for _, name := range slices.Sorted(maps.Keys(all)) {
				o := all[name]
				m := kubetest.Metadata{Name: o.Metadata.Name, Namespace: o.Metadata.Namespace, Labels: o.Metadata.Labels, Annotations: maps.Clone(o.Metadata.Annotations)}
				if m.Annotations["firn.id/write"] != "" {
					m.Annotations["firn.id/write"] = "12345"
				}
				objects = append(objects, kubetest.Object{APIVersion: o.APIVersion, Kind: o.Kind, Metadata: m, Spec: o.Spec})
			}
			return objects
		},
		load: func(content []byte) error {
			var objects []kubetest.Object
			err := json.Unmarshal(content, &objects)
			for _, o := range objects {
				server.Set(o.Metadata.Namespace, o.Metadata.Name, func(to *kubetest.Object) {
					to.Metadata.Labels, to.Metadata.Annotations, to.Spec = o.Metadata.Labels, o.Metadata.Annotations, o.Spec
				})
			}
			return err
		},
	}
}

// compatSome returns the entries of two pools, whose keys have all characters.
func compatSome(entries compatEntries, facts compatFacts) (compatEntries, compatFacts) {
	some := make(compatEntries)
	ours := func(name string) bool { return name == "-z.eu_1@b-" || name == "rescued" }
	for key, value := range entries {
		if name, _, _ := strings.Cut(key, "/"); ours(name) {
			some[key] = value
		}
	}
	facts.Pools = slices.DeleteFunc(slices.Clone(facts.Pools), func(p compatPool) bool { return !ours(p.Name) })
	return some, facts
}

// This version reads what released versions have written to Consul and to Kubernetes, and writes
// the same.
func TestCompatServers(t *testing.T) {
	versions := compatVersions(t)
	for _, version := range versions {
		entries, facts := compatSome(compatEntriesOf(t, version), compatFactsOf(t, version))
		for file, start := range compatServers {
			t.Run(filepath.Base(version)+"/"+file, func(t *testing.T) {
				content := testkit.Must(os.ReadFile(filepath.Join(version, file)))
				old := start(t)
				testkit.OK(t, old.load(content))
				store := old.store(t)
				for _, wrong := range compatCheckFacts(t.Context(), store, facts) {
					t.Error(wrong)
				}
				// An entry is changed at the revision that was read.
				for _, key := range slices.Sorted(maps.Keys(entries)) {
					e, err := store.Get(t.Context(), key)
					if err == nil {
						_, err = store.Put(t.Context(), key, e.Value, e.Revision)
					}
					if err != nil {
						t.Errorf("%s: %v", key, err)
					}
				}
				if got := string(compatJSON(t, old.dump())); got != string(content) {
					t.Errorf("after a change of each entry, the server has\n%s", got)
				}
				if version != versions[len(versions)-1] {
					return
				}
				fresh := start(t)
				fresh.write(t, entries)
				if got := string(compatJSON(t, fresh.dump())); got != string(content) {
					t.Errorf("this version writes\n%s, and %s has\n%s\n%s", got, version, content, compatAdvice)
				}
			})
		}
	}
}

// The check finds another form of keys and values.
func TestCompatServersMutants(t *testing.T) {
	versions := compatVersions(t)
	newest := versions[len(versions)-1]
	_, facts := compatSome(compatEntriesOf(t, newest), compatFactsOf(t, newest))
	for _, mutant := range []struct{ file, old, with string }{
		{"consul.json", ",p", ".p"},
		{"consul.json", `"ids/`, `"ids.`},
		{"consul.json", `"Value": "`, `"Value": "AAAA`},
		{"kubernetes.json", `"ids.`, `"ids-`},
		{"kubernetes.json", "zzzpeuzu1zab", "zzzpeuzu1zub"},
		{"kubernetes.json", `firn.id/value`, `firn.id/record`},
	} {
		content := testkit.Must(os.ReadFile(filepath.Join(newest, mutant.file)))
		changed := strings.ReplaceAll(string(content), mutant.old, mutant.with)
		s := compatServers[mutant.file](t)
		if changed == string(content) {
			t.Errorf("%s has no %s", mutant.file, mutant.old)
		}
		if err := s.load([]byte(changed)); err == nil && len(compatCheckFacts(t.Context(), s.store(t), facts)) == 0 {
			t.Errorf("%s with %s instead of %s is read all the same", mutant.file, mutant.with, mutant.old)
		}
	}
}
