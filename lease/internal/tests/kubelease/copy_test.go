package kubelease_test

import (
	"testing"

	"github.com/firn-id/firn/internal/testing/kubetest"
	"github.com/firn-id/firn/internal/testing/storetest"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/drivertest"
	"github.com/firn-id/firn/lease/kubelease"
)

// TestCopied makes the objects again in another namespace, as a backup of objects does.
func TestCopied(t *testing.T) {
	server := kubetest.New()
	url := server.Start(t).URL
	drivertest.Copied(t, storetest.Open(t, kubelease.Open, "kubernetes://test/p?server="+url), func() driver.Store {
		for _, o := range server.Objects() {
			server.Set("other", o.Metadata.Name, func(to *kubetest.Object) {
				to.Metadata.Labels, to.Metadata.Annotations, to.Spec = o.Metadata.Labels, o.Metadata.Annotations, o.Spec
			})
		}
		return storetest.Open(t, kubelease.Open, "kubernetes://other/p?server="+url)
	})
}
