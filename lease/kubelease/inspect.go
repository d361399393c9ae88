package kubelease

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/internal/findings"
)

// verbs are the necessary verbs on leases.
var verbs = []string{"get", "list", "create", "update", "watch"}

// Inspect looks at the API server, the namespace, the permissions and the objects. It cannot see
// the number of etcd's members, which disks hold the data, or whether the disks were set back.
func (s *Store) Inspect(ctx context.Context) ([]driver.Finding, error) {
	return driver.Call(ctx, s.Handle, "inspect", func(ctx context.Context) ([]driver.Finding, error) {
		i := &inspection{store: s}
		if err := i.version(ctx); err != nil {
			return nil, err
		}
		i.inNamespace(ctx)
		i.permissions(ctx)
		i.objects(ctx)
		return i.All(), nil
	})
}

type inspection struct {
	store *Store
	findings.List
}

// ask makes a request, and diagnoses the error.
func (i *inspection) ask(ctx context.Context, r request) (*answer, error) {
	return driver.Call(ctx, i.store.Handle, "inspect", func(ctx context.Context) (*answer, error) { return i.store.do(ctx, r) })
}

// version looks at the version of the server.
func (i *inspection) version(ctx context.Context) error {
	s := i.store
	reply, err := i.ask(ctx, request{method: http.MethodGet, path: "/version"})
	switch {
	case err != nil:
		return err
	case reply.status != http.StatusOK:
		return s.failed(reply)
	}
	var v struct {
		Major      string `json:"major"`
		Minor      string `json:"minor"`
		GitVersion string `json:"gitVersion"`
	}
	if err := json.Unmarshal(reply.body, &v); err != nil || v.GitVersion == "" {
		return s.unexpected("the answer of /version is not what Kubernetes says: %v", err)
	}
	if age := reply.header.Get("Age"); age != "" {
		i.Loses("let requests go to the API server itself",
			"something between here and the API keeps answers (this one for %.10q seconds): reads can be stale, and entries that are there seem not to be", age)
	}
	if strings.Contains(v.GitVersion, "+k3s") {
		i.Note("see that it has three servers with etcd (--cluster-init), or an external database that is safe",
			"the cluster is K3s, which keeps its state in one file of SQLite unless it is told otherwise: if that disk is lost, acknowledged changes are lost")
	}
	major, errMajor := strconv.Atoi(v.Major)
	minor, errMinor := strconv.Atoi(strings.TrimRight(v.Minor, "+"))
	if errMajor == nil && errMinor == nil && (major < 1 || major == 1 && minor < 14) {
		i.Note("upgrade it", "the API server is Kubernetes %.30s, which does not have leases of %s", v.GitVersion, apiVersion)
	}
	return nil
}

// inNamespace looks at whether the namespace exists, and whether it is being deleted.
func (i *inspection) inNamespace(ctx context.Context) {
	s := i.store
	switch s.namespace {
	case "kube-system", "kube-node-lease", "kube-public":
		i.Add(driver.Finding{Advice: "use a namespace of its own", Remedy: driver.RemedyMove}, "the namespace %s is that of Kubernetes itself, which deletes leases there", s.namespace)
	}
	reply, err := i.ask(ctx, request{method: http.MethodGet, path: "/api/v1/namespaces/" + s.namespace})
	if err != nil {
		i.Unknown("whether the namespace is there", err)
		return
	}
	var n struct {
		Kind     string `json:"kind"`
		Metadata struct {
			Name string `json:"name"`
		} `json:"metadata"`
		Status struct {
			Phase string `json:"phase"`
		} `json:"status"`
	}
	switch {
	case reply.status == http.StatusForbidden: // as is usual
		i.try(ctx)
	case statusOf(reply).Reason == "NotFound":
		i.Add(s.create(), "there is no namespace %s", s.namespace)
	case reply.status != http.StatusOK:
		i.Unknown("whether the namespace is there", s.failed(reply))
	case json.Unmarshal(reply.body, &n) != nil || n.Kind != "Namespace" || n.Metadata.Name != s.namespace:
		i.Unknown("whether the namespace is there", s.unexpected("the answer is not a Namespace"))
	case n.Status.Phase == "Terminating":
		i.terminating()
	}
}

func (i *inspection) terminating() {
	i.Add(driver.Finding{Loses: true, Advice: "use another namespace", Remedy: driver.RemedyMove},
		"the namespace %s is being deleted, and all entries with it: times that were given out would be given out again", i.store.namespace)
}

// try asks the API whether it would create an object in the namespace. The API creates nothing
// (dryRun).
func (i *inspection) try(ctx context.Context) {
	s := i.store
	body, err := json.Marshal(lease{APIVersion: apiVersion, Kind: "Lease", Metadata: metadata{Name: s.prefix + "dry-run", Namespace: s.namespace}})
	if err != nil {
		i.Unknown("whether the namespace is there", err)
		return
	}
	reply, err := i.ask(ctx, request{method: http.MethodPost, path: s.path(""), query: url.Values{"dryRun": {"All"}}, body: body, writes: true})
	if err != nil {
		i.Unknown("whether the namespace is there", err)
		return
	}
	st := statusOf(reply)
	switch {
	case reply.status == http.StatusCreated, st.Reason == "AlreadyExists":
	case st.noNamespace():
		i.Add(s.create(), "there is no namespace %s", s.namespace)
	case slices.ContainsFunc(st.Details.Causes, func(c cause) bool { return c.Reason == "NamespaceTerminating" }):
		i.terminating()
	default:
		i.Unknown("whether the namespace is there", s.failed(reply))
	}
}

// permissions asks the API for the verbs of the store's account.
func (i *inspection) permissions(ctx context.Context) {
	s := i.store
	var missing []string
	for _, verb := range verbs {
		body, err := json.Marshal(map[string]any{"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": map[string]any{
			"resourceAttributes": map[string]string{"namespace": s.namespace, "verb": verb, "group": "coordination.k8s.io", "resource": "leases"}}})
		var reply *answer
		if err == nil {
			reply, err = i.ask(ctx, request{method: http.MethodPost, path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", body: body})
		}
		if err == nil && reply.status != http.StatusCreated && reply.status != http.StatusOK {
			err = s.failed(reply)
		}
		var review struct {
			Kind   string `json:"kind"`
			Status struct {
				Allowed bool `json:"allowed"`
			} `json:"status"`
		}
		if err == nil {
			if err = json.Unmarshal(reply.body, &review); err != nil || review.Kind != "SelfSubjectAccessReview" {
				err = s.unexpected("the answer is not a SelfSubjectAccessReview")
			}
		}
		if err != nil {
			i.Unknown("what this account may do", err)
			return
		}
		if !review.Status.Allowed {
			missing = append(missing, verb)
		}
	}
	report := i.Note // without the right to watch, a lease asks again and again
	if slices.ContainsFunc(missing, func(verb string) bool { return verb != "watch" }) {
		report = i.Blocks
	}
	if len(missing) > 0 {
		report(s.allow(strings.Join(missing, ", ")), "this account may not %s leases in the namespace %s", strings.Join(missing, ", "), s.namespace)
	}
}

// objects looks at the objects with the prefix.
func (i *inspection) objects(ctx context.Context) {
	s := i.store
	leases, err := driver.Call(ctx, s.Handle, "inspect", func(ctx context.Context) ([]lease, error) {
		leases, _, err := s.all(ctx)
		return leases, err
	})
	if err != nil {
		i.Unknown("what is under the prefix", err)
		return
	}
	foreign, owned, going, example := 0, 0, 0, ""
	for _, l := range leases {
		if !strings.HasPrefix(l.Metadata.Name, s.prefix) {
			continue
		}
		_, ours := s.keyOf(l)
		if _, ok := l.Metadata.Annotations[valueAnnotation]; !ours || !ok {
			foreign++
			example = l.Metadata.Name
			continue
		}
		if len(l.Metadata.OwnerReferences) > 0 {
			owned++
		}
		if l.Metadata.DeletionTimestamp != "" {
			going++
		}
	}
	if owned > 0 {
		i.Loses("see what has set metadata.ownerReferences, and take them out",
			"%d entries have owners, and will be deleted with them: times that were given out would be given out again", owned)
	}
	if going > 0 {
		// Recovered before they are gone, the entries would be lost again.
		i.Add(driver.Finding{Loses: true, Advice: "see what has deleted them, and what keeps them (metadata.finalizers); recover their pools when they are gone", Remedy: driver.RemedyRecover},
			"%d entries are being deleted: times that were given out would be given out again", going)
	}
	if foreign > 0 {
		i.Note("have it use a separate prefix", "something else has leases whose names begin with %s: %d do not belong to this store, such as %.100q", s.prefix, foreign, example)
	}
}
