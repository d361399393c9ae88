package kubelease

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/firn-id/firn/lease/driver"
)

// verbs are the verbs on leases that a program uses. Without watch, a waiting lease asks again and again; without
// any other, there is no lease.
var verbs = []string{"get", "list", "create", "update", "watch"}

// Inspect looks for what loses changes, and for what refuses them: at the objects, the namespace and the
// permissions. It cannot see the number of etcd's members, which disks hold the data, or whether the disks were set
// back.
func (s *Store) Inspect(ctx context.Context) ([]driver.Finding, error) {
	return driver.Call(ctx, s.Handle, "inspect", func(ctx context.Context) (found []driver.Finding, _ error) {
		for _, look := range []func(context.Context) ([]driver.Finding, error){s.inspectObjects, s.inspectNamespace, s.inspectVerbs} {
			some, err := look(ctx)
			found = append(found, some...)
			if err != nil {
				return found, err
			}
		}
		return driver.WorstFirst(found), nil
	})
}

// inspectObjects looks at the objects with the prefix, and at the way to them.
func (s *Store) inspectObjects(ctx context.Context) (found []driver.Finding, err error) {
	reply, err := s.do(ctx, request{method: http.MethodGet, path: s.path(""), query: url.Values{"limit": {"1"}}})
	if err != nil {
		return nil, err
	}
	if age := reply.header.Get("Age"); age != "" {
		found = append(found, driver.Finding{Loses: true, Advice: "let requests go to the API server itself",
			Text: fmt.Sprintf("something between here and the API keeps answers (this one for %.10q seconds): reads can be stale, and entries that are there seem not to be", age)})
	}
	leases, err := s.all(ctx)
	if err != nil {
		return found, err
	}
	owned, going := 0, 0
	for _, l := range leases {
		_, ours := s.keyOf(l)
		if _, ok := l.Metadata.Annotations[valueAnnotation]; !ours || !ok {
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
		found = append(found, driver.Finding{Loses: true, Advice: "see what has set metadata.ownerReferences, and take them out",
			Text: fmt.Sprintf("%d entries have owners, and will be deleted with them: times that were given out would be given out again", owned)})
	}
	if going > 0 {
		// Recovered before they are gone, the entries would be lost again.
		found = append(found, driver.Finding{Loses: true, Remedy: driver.RemedyRecover,
			Advice: "see what has deleted them, and what keeps them (metadata.finalizers); recover their pools when they are gone",
			Text:   fmt.Sprintf("%d entries are being deleted: times that were given out would be given out again", going)})
	}
	return found, nil
}

// inspectNamespace asks the API whether it would create an object in the namespace. Few accounts may look at the
// namespace itself. The API creates nothing (dryRun).
func (s *Store) inspectNamespace(ctx context.Context) ([]driver.Finding, error) {
	reply, err := s.do(ctx, request{method: http.MethodPost, path: s.path(""), query: url.Values{"dryRun": {"All"}}, writes: true,
		body: lease{APIVersion: apiVersion, Kind: "Lease", Metadata: metadata{Name: s.prefix + "dry-run", Namespace: s.namespace}}})
	if err != nil {
		return nil, err
	}
	switch st := statusOf(reply); {
	case reply.status == http.StatusCreated, st.Reason == "AlreadyExists":
	case st.noNamespace():
		return []driver.Finding{{Text: "there is no namespace " + s.namespace, Advice: "kubectl create namespace " + s.namespace, Remedy: driver.RemedyCreate}}, nil
	case st.terminating():
		return []driver.Finding{{Loses: true, Advice: "use another namespace", Remedy: driver.RemedyMove,
			Text: "the namespace " + s.namespace + " is being deleted, and all entries with it: times that were given out would be given out again"}}, nil
	case remedyFor(reply.status, st) != driver.RemedyPermissions: // inspectVerbs reports those
		return nil, s.failed(reply)
	}
	return nil, nil
}

// inspectVerbs asks the API for the verbs of the store's account.
func (s *Store) inspectVerbs(ctx context.Context) ([]driver.Finding, error) {
	var missing []string
	for _, verb := range verbs {
		if verb == "watch" {
			continue
		}
		reply, err := s.do(ctx, request{method: http.MethodPost, path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
			body: map[string]any{"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": map[string]any{
				"resourceAttributes": map[string]string{"namespace": s.namespace, "verb": verb, "group": "coordination.k8s.io", "resource": "leases"}}}})
		if err != nil {
			return nil, err
		}
		if reply.status != http.StatusCreated && reply.status != http.StatusOK {
			return nil, s.failed(reply)
		}
		var review struct {
			Kind   string `json:"kind"`
			Status struct {
				Allowed bool `json:"allowed"`
			} `json:"status"`
		}
		if err := json.Unmarshal(reply.body, &review); err != nil || review.Kind != "SelfSubjectAccessReview" {
			return nil, s.unexpected("the answer is not a SelfSubjectAccessReview")
		}
		if !review.Status.Allowed {
			missing = append(missing, verb)
		}
	}
	if len(missing) == 0 {
		return nil, nil
	}
	lacks := strings.Join(missing, ", ")
	return []driver.Finding{{Blocks: true, Text: fmt.Sprintf("this account may not %s leases in the namespace %s", lacks, s.namespace),
		Advice: fmt.Sprintf("let the service account %s leases in the namespace %s: a Role with the verbs %s on leases of coordination.k8s.io, and a RoleBinding",
			lacks, s.namespace, strings.Join(verbs, ", "))}}, nil
}
