package lease

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firn-id/firn/internal/testing/kubetest"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/kubelease"
)

// A compatKube is a pretended API server of Kubernetes, with the store of this version.
type compatKube struct {
	server  *kubetest.Server
	address string
}

func newCompatKube(t *testing.T) compatKube {
	server := kubetest.New()
	return compatKube{server, "kubernetes://test/ids?server=" + server.Start(t).URL}
}

// store returns a store in the server.
func (k compatKube) store(t *testing.T) driver.Store {
	t.Helper()
	store := testkit.Must(kubelease.Open(t.Context(), k.address))
	t.Cleanup(func() { store.Close() })
	return store
}

// write puts entries into the server, by the store.
func (k compatKube) write(t *testing.T, entries compatEntries) {
	t.Helper()
	store := k.store(t)
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		put(t, store, key, entries[key])
	}
}

// dump returns what the server has, with constants for what differs from write to write.
func (k compatKube) dump(t *testing.T) string {
	objects := []kubetest.Object{}
	all := k.server.Objects()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		o := all[name]
		m := kubetest.Metadata{Name: o.Metadata.Name, Namespace: o.Metadata.Namespace, Labels: o.Metadata.Labels, Annotations: maps.Clone(o.Metadata.Annotations)}
		if m.Annotations["firn.id/write"] != "" {
			m.Annotations["firn.id/write"] = "12345"
		}
		objects = append(objects, kubetest.Object{APIVersion: o.APIVersion, Kind: o.Kind, Metadata: m, Spec: o.Spec})
	}
	return string(compatJSON(t, objects))
}

// load puts a dump into the server.
func (k compatKube) load(t *testing.T, content []byte) {
	var objects []kubetest.Object
	testkit.OK(t, json.Unmarshal(content, &objects))
	for _, o := range objects {
		k.server.Set(o.Metadata.Namespace, o.Metadata.Name, func(to *kubetest.Object) {
			to.Metadata.Labels, to.Metadata.Annotations, to.Spec = o.Metadata.Labels, o.Metadata.Annotations, o.Spec
		})
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

// This version reads what released versions have written to Kubernetes, and writes the same.
func TestCompatKube(t *testing.T) {
	versions := compatVersions(t)
	for _, version := range versions {
		t.Run(filepath.Base(version), func(t *testing.T) {
			entries, facts := compatSome(compatEntriesOf(t, version), compatFactsOf(t, version))
			content := testkit.Must(os.ReadFile(filepath.Join(version, "kubernetes.json")))
			old := newCompatKube(t)
			old.load(t, content)
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
			if got := old.dump(t); got != string(content) {
				t.Errorf("after a change of each entry, the server has\n%s", got)
			}
			if version != versions[len(versions)-1] {
				return
			}
			fresh := newCompatKube(t)
			fresh.write(t, entries)
			if got := fresh.dump(t); got != string(content) {
				t.Errorf("this version writes\n%s, and %s has\n%s\n%s", got, version, content, compatAdvice)
			}
		})
	}
}
