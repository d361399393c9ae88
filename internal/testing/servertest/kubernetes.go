package servertest

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/testing/etcdtest"
	"github.com/firn-id/firn/internal/testing/loopback"
	"github.com/firn-id/firn/internal/testing/process"
	"github.com/firn-id/firn/lease/kubelease"
)

// A Kubernetes is an API server with access control by roles, and an etcd. No kubelet and no
// controller runs. The methods are safe for concurrent use.
type Kubernetes struct {
	Etcd *etcdtest.Cluster // of one member

	dir    string
	node   *process.Node
	host   string // host:port
	admin  string // a token for everything
	client *http.Client
}

// NewKubernetes starts servers that end with the test. Unless FIRN_REAL_SERVERS=1 the test is
// skipped. A test that fails logs the last lines of the servers' logs.
func NewKubernetes(t testing.TB) *Kubernetes {
	t.Helper()
	Require(t)
	return process.ForTest(t, StartKubernetes)
}

// StartKubernetes starts servers, and returns when the servers are healthy.
func StartKubernetes(ctx context.Context) (*Kubernetes, error) {
	program, err := program(ctx, "FIRN_KUBE_APISERVER", "kubernetes", "k8s.io/kubernetes/cmd/kube-apiserver")
	if err != nil {
		return nil, err
	}
	return process.Again(func() (*Kubernetes, error) { return startKubernetes(ctx, program) })
}

func startKubernetes(ctx context.Context, program string) (_ *Kubernetes, err error) {
	k := &Kubernetes{admin: strings.ToLower(rand.Text())}
	if k.dir, err = os.MkdirTemp("", "firn-kubernetes-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("%w\n%s", err, k.Logs())
			k.Close()
		}
	}()
	if k.Etcd, err = etcdtest.Start(ctx, etcdtest.Config{Members: 1}); err != nil {
		return nil, err
	}
	port, err := loopback.Port()
	if err != nil {
		return nil, err
	}
	k.host = fmt.Sprintf("127.0.0.1:%d", port)
	if err := k.certify(); err != nil {
		return nil, err
	}
	tokens := filepath.Join(k.dir, "tokens.csv")
	if err := os.WriteFile(tokens, []byte(k.admin+",admin,admin,system:masters\n"), 0o600); err != nil {
		return nil, err
	}
	k.node = &process.Node{Name: "kube-apiserver", Log: filepath.Join(k.dir, "log"), Command: []string{program,
		"--etcd-servers=http://" + k.Etcd.Endpoint(0), "--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", port),
		"--tls-cert-file=" + k.CA(), "--tls-private-key-file=" + k.key(),
		"--authorization-mode=RBAC", "--token-auth-file=" + tokens,
		"--service-account-issuer=https://" + k.host, "--service-account-key-file=" + k.key(), "--service-account-signing-key-file=" + k.key(),
		"--service-cluster-ip-range=10.0.0.0/24", "--endpoint-reconciler-type=none",
		// No client uses the address that the server advertises. The server refuses to advertise an
		// address of loopback.
		"--advertise-address=192.0.2.1", "--cert-dir=" + k.dir}}
	if err := k.node.Start(); err != nil {
		return nil, err
	}
	return k, k.WaitHealthy(ctx)
}

// certify makes the key of the server, and a certificate signed by itself.
func (k *Kubernetes) certify() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "kube-apiserver"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return err
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate})
	roots.AppendCertsFromPEM(text)
	k.client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, DisableKeepAlives: true}}
	return errors.Join(os.WriteFile(k.CA(), text, 0o600),
		os.WriteFile(k.key(), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private}), 0o600))
}

// CA returns the file of the authority of the API server's certificate.
func (k *Kubernetes) CA() string { return filepath.Join(k.dir, "ca.crt") }

func (k *Kubernetes) key() string { return filepath.Join(k.dir, "key.pem") }

// Close ends the servers, and removes the data.
func (k *Kubernetes) Close() {
	if k.node != nil {
		k.node.Kill()
	}
	if k.Etcd != nil {
		k.Etcd.Close()
	}
	os.RemoveAll(k.dir)
}

// Admin returns the token of an administrator.
func (k *Kubernetes) Admin() string { return k.admin }

// Client returns a client that trusts the API server's certificate.
func (k *Kubernetes) Client() *http.Client { return k.client }

// Endpoint returns where the API server listens, as host:port, with TLS.
func (k *Kubernetes) Endpoint() string { return k.host }

// Kill ends the API server at once (SIGKILL), as a crash of the process does.
func (k *Kubernetes) Kill() { k.node.Kill() }

// Restart starts the API server again, and does not wait until the server is healthy.
func (k *Kubernetes) Restart() error { return k.node.Start() }

// Stop freezes the API server (SIGSTOP). Connections stay open, and the server sends nothing.
func (k *Kubernetes) Stop() error { return k.node.Freeze() }

// Continue ends a Stop.
func (k *Kubernetes) Continue() error { return k.node.Thaw() }

// Logs returns the last lines of the servers' logs.
func (k *Kubernetes) Logs() string {
	var logs string
	if k.node != nil {
		logs = k.node.Said("")
	}
	if k.Etcd != nil {
		logs += k.Etcd.Logs()
	}
	return logs
}

// WaitHealthy waits until the API server reports that the server is ready.
func (k *Kubernetes) WaitHealthy(ctx context.Context) error {
	return process.Until(ctx, "the API server is not ready", []*process.Node{k.node}, func(ctx context.Context) error {
		return k.Do(ctx, "GET", "/readyz", "", "", nil)
	})
}

// Do makes a request as an administrator. Without a content type the body is JSON. Do decodes the
// answer into the last argument unless the argument is nil.
func (k *Kubernetes) Do(ctx context.Context, method, path, contentType, body string, into any) error {
	if contentType == "" {
		contentType = "application/json"
	}
	return request{client: k.client, method: method, url: "https://" + k.host + path, token: k.admin, contentType: contentType, body: []byte(body), into: into}.do(ctx)
}

// Account makes the service account ids in a namespace, and makes the namespace first if need be.
// Account binds the account to the Role that firn pool permissions prints, without the given verbs. Account
// returns a token like a pod's token, once the API judges the account by the Role.
func (k *Kubernetes) Account(ctx context.Context, namespace string, without ...string) (token string, err error) {
	rights, err := kubelease.Permissions("kubernetes://"+namespace+"/ids", "ids")
	if err != nil {
		return "", err
	}
	role, binding, _ := strings.Cut(rights, "\n---\n")
	spaces, rbac := "/api/v1/namespaces", "/apis/rbac.authorization.k8s.io/v1/namespaces/"+namespace
	accounts := spaces + "/" + namespace + "/serviceaccounts"
	for _, object := range []struct{ path, contentType, body string }{
		{spaces, "", `{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "` + namespace + `"}}`},
		{accounts, "", `{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "ids"}}`},
		{rbac + "/roles", "application/yaml", role},
		{rbac + "/rolebindings", "application/yaml", binding},
	} {
		if err := k.Do(ctx, "POST", object.path, object.contentType, object.body, nil); err != nil && !is(err, http.StatusConflict) {
			return "", err
		}
	}
	var granted struct {
		APIVersion string         `json:"apiVersion"`
		Kind       string         `json:"kind"`
		Metadata   map[string]any `json:"metadata"`
		Rules      []struct {
			APIGroups []string `json:"apiGroups"`
			Resources []string `json:"resources"`
			Verbs     []string `json:"verbs"`
		} `json:"rules"`
	}
	if err := k.Do(ctx, "GET", rbac+"/roles/ids", "", "", &granted); err != nil {
		return "", err
	}
	var verbs []string
	for i, rule := range granted.Rules {
		granted.Rules[i].Verbs = slices.DeleteFunc(rule.Verbs, func(verb string) bool { return slices.Contains(without, verb) })
		verbs = append(verbs, granted.Rules[i].Verbs...)
	}
	if len(without) > 0 {
		body, err := json.Marshal(granted)
		if err != nil {
			return "", err
		}
		if err := k.Do(ctx, "PUT", rbac+"/roles/ids", "", string(body), nil); err != nil {
			return "", err
		}
	}
	var made struct{ Status struct{ Token string } }
	if err := k.Do(ctx, "POST", accounts+"/ids/token", "",
		`{"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}`, &made); err != nil {
		return "", err
	}
	return made.Status.Token, process.Until(ctx, "the API does not know what an account may do", []*process.Node{k.node}, func(ctx context.Context) error {
		for _, verb := range append(verbs, without...) {
			var review struct{ Status struct{ Allowed bool } }
			body := fmt.Sprintf(`{"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": {
				"user": "system:serviceaccount:%s:ids", "resourceAttributes": {"namespace": %[1]q, "verb": %q, "group": "coordination.k8s.io", "resource": "leases"}}}`,
				namespace, verb)
			if err := k.Do(ctx, "POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", "", body, &review); err != nil {
				return err
			}
			if review.Status.Allowed == slices.Contains(without, verb) {
				return fmt.Errorf("%s allowed: %v", verb, review.Status.Allowed)
			}
		}
		return nil
	})
}

// Address returns the address of a store in a namespace, with a prefix, for a token.
func (k *Kubernetes) Address(namespace, prefix, token string) string {
	return "kubernetes://" + namespace + "/" + prefix + "?" + url.Values{"server": {"https://" + k.host}, "ca": {k.CA()}, "token": {token}}.Encode()
}
