// Package kubetest pretends to be the API of Kubernetes, for tests. The server is as unpleasant as
// the documentation and the source of Kubernetes allow: reads with resourceVersion=0 are stale, PUT
// creates missing objects, a write without a change makes no new version, pages and watches expire,
// and undocumented requests are refused.
package kubetest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/firn-id/firn/internal/testing/pretend"
)

// An Object is an object of the kind Lease.
type Object struct {
	APIVersion string         `json:"apiVersion,omitempty"`
	Kind       string         `json:"kind,omitempty"`
	Metadata   Metadata       `json:"metadata"`
	Spec       map[string]any `json:"spec"`
}

// Metadata is the metadata of an Object.
type Metadata struct {
	Name              string            `json:"name,omitempty"`
	Namespace         string            `json:"namespace,omitempty"`
	UID               string            `json:"uid,omitempty"`
	ResourceVersion   string            `json:"resourceVersion,omitempty"`
	CreationTimestamp string            `json:"creationTimestamp,omitempty"`
	DeletionTimestamp string            `json:"deletionTimestamp,omitempty"`
	Labels            map[string]string `json:"labels,omitempty"`
	Annotations       map[string]string `json:"annotations,omitempty"`
	OwnerReferences   []map[string]any  `json:"ownerReferences,omitempty"`
	ManagedFields     []map[string]any  `json:"managedFields,omitempty"`
}

// A Server answers like the API. Set the exported fields before the first request or in Do.
type Server struct {
	Tokens     map[string][]string // the verbs that each token allows for leases; nil allows everything to everybody
	Namespaces map[string]string   // phases by name: "Active" or "Terminating"
	PageLimit  int                 // the most objects in a page, whatever the request says; 0 means no limit

	*pretend.Server // connections and faults

	version  int // of the last change
	oldest   int // version for watches and pages
	last     int // UID
	objects  map[string]Object
	events   []event
	previous map[string]Object         // before the last change, as in the cache of a server that is behind
	drops    int                       // number of calls of DropWatches
	times    map[int]map[string]Object // the objects at a version, for pages
}

type event struct {
	version int
	kind    string
	object  Object
}

// New returns a server with the namespaces default and test.
func New() *Server {
	s := &Server{Namespaces: map[string]string{"default": "Active", "test": "Active"},
		version: 100, objects: make(map[string]Object), previous: make(map[string]Object), times: make(map[int]map[string]Object)}
	s.Server = pretend.New(func(w http.ResponseWriter, r *http.Request, body []byte) *pretend.Answer {
		if r.URL.Query().Get("watch") != "" {
			return s.watch(w, r)
		}
		return s.handle(r, body)
	})
	return s
}

// Set changes an object as another client would, and makes a missing object.
func (s *Server) Set(namespace, name string, change func(*Object)) {
	s.Do(func() {
		o, ok := s.objects[namespace+"/"+name]
		if !ok {
			o = s.fresh(Object{Metadata: Metadata{Name: name, Namespace: namespace}})
		}
		o.Metadata.Annotations = maps.Clone(o.Metadata.Annotations)
		if o.Metadata.Annotations == nil {
			o.Metadata.Annotations = make(map[string]string)
		}
		change(&o)
		s.commit(o, ok)
	})
}

// Delete removes an object, which no store does.
func (s *Server) Delete(namespace, name string) {
	s.Do(func() {
		o := s.objects[namespace+"/"+name]
		s.previous = maps.Clone(s.objects)
		s.version++
		o.Metadata.ResourceVersion = strconv.Itoa(s.version)
		delete(s.objects, namespace+"/"+name)
		s.tell("DELETED", o)
	})
}

// Objects returns all objects by namespace/name.
func (s *Server) Objects() (objects map[string]Object) {
	s.Do(func() { objects = maps.Clone(s.objects) })
	return objects
}

// Forget compacts all past versions: pages and watches at past versions expire.
func (s *Server) Forget() {
	s.Do(func() {
		s.oldest = s.version
		s.events, s.times = nil, make(map[int]map[string]Object)
	})
}

// DropWatches ends all watches.
func (s *Server) DropWatches() {
	s.Do(func() {
		s.drops++
		s.Changed()
	})
}

func (s *Server) fresh(o Object) Object {
	s.last++
	o.APIVersion, o.Kind = "coordination.k8s.io/v1", "Lease"
	o.Metadata.UID = fmt.Sprintf("5f0e1c9a-1d3b-4c55-9a40-%012x", s.last)
	o.Metadata.CreationTimestamp = "2026-01-01T00:00:00Z"
	return o
}

func (s *Server) commit(o Object, exists bool) Object {
	s.previous = maps.Clone(s.objects)
	s.version += 1 + s.version%3 // other objects of the cluster change, too
	o.Metadata.ResourceVersion = strconv.Itoa(s.version)
	o.Metadata.ManagedFields = []map[string]any{{"manager": "firn", "operation": "Update"}}
	s.objects[o.Metadata.Namespace+"/"+o.Metadata.Name] = o
	if exists {
		s.tell("MODIFIED", o)
	} else {
		s.tell("ADDED", o)
	}
	return o
}

func (s *Server) tell(kind string, o Object) {
	s.events = append(s.events, event{s.version, kind, o})
	s.Changed()
}

// Status returns the answer to a request that failed.
func Status(code int, reason, kind, name, message string, causes ...string) *pretend.Answer {
	details := map[string]any{"name": name, "kind": kind}
	if kind == "leases" || kind == "Lease" {
		details["group"] = "coordination.k8s.io"
	}
	if len(causes) > 0 {
		details["causes"] = []any{map[string]any{"reason": causes[0], "message": message}}
	}
	return pretend.JSON(code, map[string]any{"kind": "Status", "apiVersion": "v1", "metadata": map[string]any{}, "status": "Failure",
		"message": message, "reason": reason, "details": details, "code": code})
}

func notFound(name string) *pretend.Answer {
	return Status(404, "NotFound", "leases", name, fmt.Sprintf("leases.coordination.k8s.io %q not found", name))
}

func conflict(name, why string) *pretend.Answer {
	return Status(409, "Conflict", "leases", name, fmt.Sprintf("Operation cannot be fulfilled on leases.coordination.k8s.io %q: %s", name, why))
}

// invalid returns the answer to an object with a mistake. The kind may also be the resource.
func invalid(kind, name, cause, why string) *pretend.Answer {
	return Status(422, "Invalid", kind, name, fmt.Sprintf("%s.coordination.k8s.io %q is invalid: %s", kind, name, why), cause)
}

// forbidden returns the answer to a user without the right.
func forbidden(user, verb, group, kind, name, namespace string) *pretend.Answer {
	what := kind
	if group != "" {
		what += "." + group
	}
	if name != "" {
		what += fmt.Sprintf(" %q", name)
	}
	return Status(403, "Forbidden", kind, name, fmt.Sprintf("%s is forbidden: User %q cannot %s resource %q in API group %q in the namespace %q",
		what, user, verb, kind, group, namespace))
}

// gone returns the answer about a version that Forget has removed.
func gone() *pretend.Answer {
	return Status(410, "Expired", "", "", "The resourceVersion for the provided list or watch is too old.")
}

var (
	leasesPath = regexp.MustCompile(`^/apis/coordination\.k8s\.io/v1/namespaces/([^/]+)/leases(?:/([^/]+))?$`)
	subdomain  = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
	label      = regexp.MustCompile(`^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$`)
)

// known are the parameters of each verb.
var known = map[string][]string{
	"get":    {"resourceVersion"},
	"list":   {"limit", "continue", "resourceVersion", "resourceVersionMatch", "labelSelector", "timeoutSeconds"},
	"watch":  {"watch", "resourceVersion", "allowWatchBookmarks", "timeoutSeconds", "labelSelector"},
	"create": {"dryRun"},
	"update": {"dryRun"},
}

// admit refuses unknown parameters, and tokens without the right.
func (s *Server) admit(r *http.Request, verb, namespace, name string) *pretend.Answer {
	for parameter := range r.URL.Query() {
		if !slices.Contains(known[verb], parameter) {
			return Status(400, "BadRequest", "", "", fmt.Sprintf("unknown parameter %q", parameter))
		}
	}
	user, allowed, answer := s.account(r)
	if answer != nil {
		return answer
	}
	if s.Tokens != nil && !slices.Contains(allowed, verb) {
		return forbidden(user, verb, "coordination.k8s.io", "leases", name, namespace)
	}
	return nil
}

// The users of requests with a token of the server's, and without any token.
const (
	firn      = "system:serviceaccount:test:firn"
	anonymous = "system:anonymous"
)

func (s *Server) account(r *http.Request) (user string, verbs []string, answer *pretend.Answer) {
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	verbs, ok := s.Tokens[token]
	switch {
	case s.Tokens == nil || ok:
		return firn, verbs, nil
	case token == "":
		return anonymous, nil, nil
	}
	return "", nil, Status(401, "Unauthorized", "", "", "Unauthorized")
}

func (s *Server) handle(r *http.Request, body []byte) *pretend.Answer {
	if r.URL.Path == "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews" && r.Method == "POST" {
		return s.review(r, body)
	}
	m := leasesPath.FindStringSubmatch(r.URL.Path)
	if m == nil {
		return pretend.Text(404, "404 page not found\n")
	}
	namespace, name := m[1], m[2]
	verb := map[string]string{"GET": "get", "POST": "create", "PUT": "update"}[r.Method]
	if r.Method == "GET" && name == "" {
		verb = "list"
	}
	if verb == "" || (verb == "create") != (name == "") && verb != "list" {
		return Status(405, "MethodNotAllowed", "", "", "the server does not allow this method on the requested resource")
	}
	if answer := s.admit(r, verb, namespace, name); answer != nil {
		return answer
	}
	switch verb {
	case "get":
		objects := s.objects
		if r.URL.Query().Has("resourceVersion") {
			objects = s.previous // "any", or "not older than"
		}
		if o, ok := objects[namespace+"/"+name]; ok {
			return pretend.JSON(200, o)
		}
		return notFound(name)
	case "list":
		return s.list(r, namespace)
	}
	return s.write(r, verb, namespace, name, body)
}

func (s *Server) write(r *http.Request, verb, namespace, name string, body []byte) *pretend.Answer {
	var o Object
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&o); err != nil {
		return Status(400, "BadRequest", "", "", fmt.Sprintf("the object provided is unrecognized (must be of type Lease): %v", err))
	}
	if o.Kind != "Lease" || o.APIVersion != "coordination.k8s.io/v1" {
		return Status(400, "BadRequest", "", "", fmt.Sprintf("%s in version %q cannot be handled as a Lease", o.Kind, o.APIVersion))
	}
	if verb == "create" {
		name = o.Metadata.Name
	}
	size := 0
	for key, value := range o.Metadata.Annotations {
		size += len(key) + len(value)
	}
	switch {
	case o.Metadata.Namespace != namespace:
		return Status(400, "BadRequest", "", "", "the namespace of the provided object does not match the namespace sent on the request")
	case o.Metadata.Name != name:
		return Status(400, "BadRequest", "", "", fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", o.Metadata.Name, name))
	case len(name) > 253 || !subdomain.MatchString(name):
		return invalid("Lease", name, "FieldValueInvalid", fmt.Sprintf("metadata.name: Invalid value: %q: a lowercase RFC 1123 subdomain must consist of …", name))
	case size > 256<<10:
		return invalid("Lease", name, "FieldValueTooLong", "metadata.annotations: Too long: may not be more than 262144 bytes")
	}
	for _, value := range o.Metadata.Labels {
		if !label.MatchString(value) {
			return invalid("Lease", name, "FieldValueInvalid", fmt.Sprintf("metadata.labels: Invalid value: %q: must be …", value))
		}
	}
	old, exists := s.objects[namespace+"/"+name]
	given := o.Metadata
	if _, err := strconv.ParseUint(given.ResourceVersion, 10, 64); verb == "update" && given.ResourceVersion != "" && err != nil {
		return Status(500, "", "", "", err.Error())
	}
	if verb == "update" && given.UID != "" && given.UID != old.Metadata.UID {
		return conflict(name, fmt.Sprintf("StorageError: invalid object, Code: 4, Key: /registry/leases/%s/%s, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: %s, UID in object meta: %s",
			namespace, name, given.UID, old.Metadata.UID))
	}
	if verb == "create" || !exists { // a Lease may be made by PUT
		phase, ok := s.Namespaces[namespace]
		switch {
		case !ok:
			return Status(404, "NotFound", "namespaces", namespace, fmt.Sprintf("namespaces %q not found", namespace))
		case phase == "Terminating":
			return Status(403, "Forbidden", "leases", name, fmt.Sprintf("leases.coordination.k8s.io %q is forbidden: unable to create new content in namespace %s because it is being terminated", name, namespace), "NamespaceTerminating")
		case verb == "create" && given.ResourceVersion != "":
			return Status(500, "", "", "", "resourceVersion should not be set on objects to be created")
		case exists:
			return Status(409, "AlreadyExists", "leases", name, fmt.Sprintf("leases.coordination.k8s.io %q already exists", name))
		}
		o = s.fresh(o)
		if r.URL.Query().Get("dryRun") == "All" {
			return pretend.JSON(201, o)
		}
		return pretend.JSON(201, s.commit(o, false))
	}
	switch given.ResourceVersion {
	case "":
		return invalid("leases", name, "FieldValueInvalid", "metadata.resourceVersion: Invalid value: 0: must be specified for an update")
	case old.Metadata.ResourceVersion:
	default:
		return conflict(name, "the object has been modified; please apply your changes to the latest version and try again")
	}
	o.Metadata.UID, o.Metadata.CreationTimestamp, o.Metadata.DeletionTimestamp = old.Metadata.UID, old.Metadata.CreationTimestamp, old.Metadata.DeletionTimestamp
	if maps.Equal(o.Metadata.Labels, old.Metadata.Labels) && maps.Equal(o.Metadata.Annotations, old.Metadata.Annotations) {
		return pretend.JSON(200, old) // a write without a change makes no new version
	}
	return pretend.JSON(200, s.commit(o, true))
}

type token struct {
	Version int
	Start   string
}

func (s *Server) list(r *http.Request, namespace string) *pretend.Answer {
	query := r.URL.Query()
	limit, _ := strconv.Atoi(query.Get("limit"))
	if s.PageLimit > 0 && limit > 0 {
		limit = min(limit, s.PageLimit)
	}
	at := token{Version: s.version}
	objects := s.objects
	version := query.Get("resourceVersion")
	_, err := strconv.ParseUint(version, 10, 64)
	switch {
	case query.Get("continue") != "":
		raw, err := base64.RawURLEncoding.DecodeString(query.Get("continue"))
		if err == nil {
			err = json.Unmarshal(raw, &at)
		}
		if err != nil {
			return Status(400, "BadRequest", "", "", fmt.Sprintf("invalid continue token: continue key is not valid: %v", err))
		}
		if version != "" {
			return Status(400, "BadRequest", "", "", "specifying resource version is not allowed when using continue")
		}
		if objects = s.times[at.Version]; objects == nil {
			return gone()
		}
	case version != "" && err != nil:
		return Status(400, "BadRequest", "", "", fmt.Sprintf("invalid resource version: resourceVersion: Invalid value: %q: %v", version, err))
	case version != "":
		objects = s.previous
	}
	var items []Object
	next := ""
	for _, key := range slices.Sorted(maps.Keys(objects)) {
		if !strings.HasPrefix(key, namespace+"/") || key <= at.Start {
			continue
		}
		if limit > 0 && len(items) == limit {
			raw, _ := json.Marshal(token{at.Version, namespace + "/" + items[limit-1].Metadata.Name})
			next = base64.RawURLEncoding.EncodeToString(raw)
			s.times[at.Version] = maps.Clone(objects)
			break
		}
		o := objects[key]
		o.Kind, o.APIVersion = "", "" // as in lists of the API
		items = append(items, o)
	}
	metadata := map[string]string{"resourceVersion": strconv.Itoa(at.Version)}
	if next != "" {
		metadata["continue"] = next
	}
	return pretend.JSON(200, map[string]any{"kind": "LeaseList", "apiVersion": "coordination.k8s.io/v1", "metadata": metadata, "items": items})
}

func (s *Server) review(r *http.Request, body []byte) *pretend.Answer {
	var review struct {
		Kind string
		Spec struct {
			ResourceAttributes struct{ Namespace, Verb, Group, Resource string }
		}
	}
	user, allowed, answer := s.account(r)
	a := &review.Spec.ResourceAttributes
	switch {
	case answer != nil:
		return answer
	case user == anonymous:
		return forbidden(user, "create", "authorization.k8s.io", "selfsubjectaccessreviews", "", "")
	case json.Unmarshal(body, &review) != nil || review.Kind != "SelfSubjectAccessReview" || a.Group != "coordination.k8s.io" || a.Resource != "leases" || a.Namespace == "":
		return Status(400, "BadRequest", "", "", "no review of leases")
	}
	return pretend.JSON(201, map[string]any{"kind": "SelfSubjectAccessReview", "apiVersion": "authorization.k8s.io/v1", "spec": review.Spec,
		"status": map[string]any{"allowed": s.Tokens == nil || slices.Contains(allowed, a.Verb)}})
}

// watch streams events, or returns an answer that refuses the watch.
func (s *Server) watch(w http.ResponseWriter, r *http.Request) *pretend.Answer {
	m := leasesPath.FindStringSubmatch(r.URL.Path)
	if m == nil || m[2] != "" || r.Method != "GET" {
		return pretend.Text(404, "404 page not found\n")
	}
	if answer := s.admit(r, "watch", m[1], ""); answer != nil {
		return answer
	}
	query := r.URL.Query()
	from, err := strconv.ParseUint(query.Get("resourceVersion"), 10, 32)
	if err != nil {
		return Status(500, "", "", "", fmt.Sprintf("resourceVersion: Invalid value: %q: %v", query.Get("resourceVersion"), err))
	}
	version := int(from)
	seconds, err := strconv.Atoi(query.Get("timeoutSeconds"))
	if err != nil {
		return Status(400, "BadRequest", "", "", "invalid timeoutSeconds")
	}
	if version < s.oldest {
		return gone()
	}
	timer := time.NewTimer(time.Duration(seconds) * time.Second)
	defer timer.Stop()
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(200)
	encoder := json.NewEncoder(w)
	drops := s.drops
	for {
		if version < s.oldest {
			encoder.Encode(map[string]any{"type": "ERROR", "object": json.RawMessage(gone().Body)})
			return nil
		}
		for _, e := range s.events {
			if e.version > version && e.object.Metadata.Namespace == m[1] {
				version = e.version
				encoder.Encode(map[string]any{"type": e.kind, "object": e.object})
			}
		}
		if version < s.version && query.Get("allowWatchBookmarks") == "true" {
			version = s.version
			encoder.Encode(map[string]any{"type": "BOOKMARK", "object": Object{APIVersion: "coordination.k8s.io/v1", Kind: "Lease", Metadata: Metadata{ResourceVersion: strconv.Itoa(version)}}})
		}
		w.(http.Flusher).Flush()
		if !s.Await(r, timer) || s.drops != drops {
			return nil
		}
	}
}
