package kubelease_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/firn-id/firn/internal/testing/kubetest"
	"github.com/firn-id/firn/internal/testing/storetest"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/internal/tests/released"
	"github.com/firn-id/firn/lease/kubelease"
)

// TestReleased has a pretended API server for the objects that a released version has written.
func TestReleased(t *testing.T) {
	released.Test(t, "kubernetes.json", func(t *testing.T) released.Server {
		server := kubetest.New()
		return ofRelease{t, server, "kubernetes://test/ids?server=" + server.Start(t).URL}
	})
}

type ofRelease struct {
	t       *testing.T
	server  *kubetest.Server
	address string
}

func (r ofRelease) Load(content string) error {
	var objects []kubetest.Object
	if err := json.Unmarshal([]byte(content), &objects); err != nil {
		return err
	}
	for _, o := range objects {
		r.server.Set(o.Metadata.Namespace, o.Metadata.Name, func(to *kubetest.Object) {
			to.Metadata.Labels, to.Metadata.Annotations, to.Spec = o.Metadata.Labels, o.Metadata.Annotations, o.Spec
		})
	}
	return nil
}

func (r ofRelease) Open() driver.Store { return storetest.Open(r.t, kubelease.Open, r.address) }

func (r ofRelease) Dump() (string, error) {
	objects := []kubetest.Object{}
	all := r.server.Objects()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		o := all[name]
		m := kubetest.Metadata{Name: o.Metadata.Name, Namespace: o.Metadata.Namespace, Labels: o.Metadata.Labels, Annotations: maps.Clone(o.Metadata.Annotations)}
		if m.Annotations["firn.id/write"] != "" {
			m.Annotations["firn.id/write"] = "12345"
		}
		objects = append(objects, kubetest.Object{APIVersion: o.APIVersion, Kind: o.Kind, Metadata: m, Spec: o.Spec})
	}
	content, err := json.MarshalIndent(objects, "", "  ")
	return string(content) + "\n", err
}
