package drivertest

import (
	"os"
	"testing"

	"github.com/firn-id/firn/internal/testing/kubetest"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/kubelease"
)

const tokenOfTests = "a-token-of-a-test"

func init() { os.Setenv("FIRN_TEST_TOKEN", tokenOfTests) } // for all tests, so that tests can be parallel

func kubernetesSpace(t *testing.T) func() driver.Store {
	server := kubetest.New()
	server.Tokens = map[string][]string{tokenOfTests: {"get", "list", "create", "update"}}
	server.PageLimit = 7
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
