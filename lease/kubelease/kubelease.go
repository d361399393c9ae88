// Package kubelease keeps the entries of leases in the API of Kubernetes, for the processes of one
// cluster.
//
// Each entry is an object of the kind Lease (coordination.k8s.io/v1) in one namespace. An
// annotation of the object has the value in base64: 4096 bytes become 5464, of the 262 144 for all
// annotations of an object. The spec of the object is empty: a holder, a duration or a renewal
// would not make a lease safe. The name of the object is the prefix of the store, a '.' and the
// key. Characters that names of objects do not have are escaped. A name has at most 253 bytes, and
// the store refuses longer keys. Objects have the labels app.kubernetes.io/managed-by=firn and
// firn.id/prefix.
//
// The revision of an entry is the UID and the resourceVersion of its object. The API server
// compares both when it writes to etcd, and an object that is deleted and made again has another
// UID. Put creates an object with POST and changes it with PUT of UID and resourceVersion; without
// the UID, a PUT would create a missing Lease. The API ignores a write of the same content and
// makes no new resourceVersion. Each write therefore has another annotation, at random, and is a
// change.
//
// Reads have no resourceVersion. The API promises that such a read returns the most recent state,
// by a majority of etcd's members; with resourceVersion "0" a cache of any age could answer. The
// store never deletes an object, and its objects have no owner: the end of an owner would delete
// the objects.
//
// Deleting the namespace deletes all entries. New pools of the same names would give out the same
// timestamps a second time.
//
// # Permissions
//
// The service account needs, in the namespace, a Role with these rules:
//
//	apiGroups: ["coordination.k8s.io"]
//	resources: ["leases"]
//	verbs: ["get", "list", "create", "update", "watch"]
//
// # Tests
//
// On a real API server over a real etcd (dev/servers), the package passes the suite
// of lease/drivertest with the Role above, and needs every verb of the Role. No acknowledged change
// is lost when the servers are killed and stopped. The same holds under torture (go run
// ./cmd/firn/internal/tests/faults -stores kubernetes). A test server of the project (kubetest)
// makes faults on demand, unlike a real server: lost, late and repeated requests, each error, stale
// reads with resourceVersion=0, pages and watches that expire. One test makes the same requests of
// both servers and compares the answers.
package kubelease

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/firn-id/firn/lease/address"
	"github.com/firn-id/firn/lease/driver"
)

const (
	// DefaultTimeout bounds each call, unless the context ends earlier.
	DefaultTimeout = 5 * time.Second
	// DefaultPrefix is the prefix of the objects' names if the address has no prefix.
	DefaultPrefix = "firn"

	pageSize = 500 // the most objects to ask for at a time

	// account is a pod's folder with the namespace, the token and the API's authority.
	account = "/var/run/secrets/kubernetes.io/serviceaccount"

	valueAnnotation = "firn.id/value"
	writeAnnotation = "firn.id/write" // differs from write to write
	managedLabel    = "app.kubernetes.io/managed-by"
	prefixLabel     = "firn.id/prefix"
)

// A Store keeps entries in the API of Kubernetes. It implements [driver.Store] by its
// [driver.Handle], and [driver.Confirmer], [driver.Watcher] and [driver.Inspector].
type Store struct {
	*driver.Handle
	client    *client
	namespace string
	prefix    string // of objects' names, with a dot
	timeout   time.Duration
	token     string // if it is not in a file
	tokenFile string // read for each request: Kubernetes replaces tokens before they expire
}

var (
	_ driver.Store     = (*Store)(nil)
	_ driver.Batcher   = (*Store)(nil)
	_ driver.Confirmer = (*Store)(nil)
	_ driver.Watcher   = (*Store)(nil)
	_ driver.Inspector = (*Store)(nil)
)

func init() { driver.Register("kubernetes", Open) }

// Open returns the store of an address such as
//
//	kubernetes://namespace/prefix
//
// and checks that the API answers and lets the store read leases. The namespace is by default the
// namespace of the pod, and the prefix firn. Both have lower-case letters, digits and '-'. A pod
// needs no settings: Open finds the API server, its authority and the token of the service account
// where Kubernetes puts them. Elsewhere the settings are server, such as https://host:6443;
// token-file (read again for each request), token-env or token, or a client's certificate with cert
// and key; ca, the file of the authority of the server, and server-name, the name in its
// certificate. The timeout bounds each call whose context does not end earlier.
func Open(ctx context.Context, addr string) (*Store, error) { return open(ctx, addr, account) }

func open(ctx context.Context, addr, account string) (*Store, error) {
	a, err := address.Parse(addr)
	s, host, config, err := settle(a, err, account)
	if err != nil {
		return nil, err
	}
	s.client = newClient(host, config, s.timeout)
	s.Handle = driver.New(driver.Backend{
		Address: a.String(), Timeout: s.timeout, Get: s.get, List: s.list, Put: s.put, Close: s.close, Diagnose: s.diagnose,
	})
	if err := driver.Do(ctx, s.Handle, "open", s.check); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// settle returns a store with the settings of an address, and host:port of the API server, given the
// result of reading the address. The store has no client yet. [Open] and [Rights] read addresses here
// alone. Rights may be asked for outside of the pod: for an address read by [address.ParseAlone],
// settle looks for no server.
func settle(a *address.Address, err error, account string) (s *Store, host string, config *tls.Config, _ error) {
	if err != nil {
		return nil, "", nil, driver.OpenError("kubernetes", err, driver.RemedyAddress)
	}
	fail := func(err error) (*Store, string, *tls.Config, error) {
		return nil, "", nil, driver.OpenError(a.String(), err, driver.RemedyAddress)
	}
	s = &Store{timeout: a.Duration("timeout", DefaultTimeout), tokenFile: a.Text("token-file", ""), token: a.Secret("token")}
	server, ca, cert := a.Text("server", ""), a.Text("ca", ""), a.Text("cert", "")
	config = a.TLS()
	err = a.Err()
	switch {
	case err != nil || len(a.Hosts) > 0:
	case a.Alone():
		err = fmt.Errorf("%w: it names no namespace, as in kubernetes://namespace/prefix", driver.ErrAddress)
	default:
		var namespace []byte
		if namespace, err = os.ReadFile(account + "/namespace"); err != nil {
			err = fmt.Errorf("%w: it has no namespace, and this is not a pod: %w", driver.ErrAddress, err)
		}
		a.Hosts = []string{strings.TrimSpace(string(namespace))}
	}
	a.Path = cmp.Or(strings.TrimRight(a.Path, "/"), DefaultPrefix)
	switch {
	case err != nil:
		return fail(err)
	case a.Scheme != "kubernetes":
		return fail(fmt.Errorf("%w: it begins with %s://, not kubernetes://", driver.ErrAddress, a.Scheme))
	case a.User != "":
		return fail(fmt.Errorf("%w: it has a user: give a token", driver.ErrAddress))
	case len(a.Hosts) != 1 || !isLabel(a.Hosts[0]):
		return fail(fmt.Errorf("%w: %.100q is not a namespace: the API server is the setting server", driver.ErrAddress, strings.Join(a.Hosts, ",")))
	case !isLabel(a.Path):
		return fail(fmt.Errorf("%w: the prefix %.100q is not of lower-case letters, digits, and '-' inside, at most 63", driver.ErrAddress, a.Path))
	}
	s.namespace, s.prefix = a.Hosts[0], a.Path+"."
	if server == "" {
		if a.Alone() {
			return s, "", config, nil
		}
		if server, err = inCluster(); err != nil {
			return fail(err)
		}
		if ca == "" {
			if config, err = withAuthority(a, account+"/ca.crt"); err != nil {
				return fail(err)
			}
		}
		if s.token == "" && s.tokenFile == "" && cert == "" {
			s.tokenFile = account + "/token"
		}
	}
	var secure bool
	host, secure, err = parseServer(server)
	switch {
	case err != nil:
	case secure && a.Text("tls", "") == "false":
		err = fmt.Errorf("%w: server is https://, which does not go with tls=false", driver.ErrAddress)
	case secure && config == nil:
		config, err = withAuthority(a, "")
	case !secure && config != nil:
		err = fmt.Errorf("%w: server is http://, which goes without tls, ca, cert, key and server-name", driver.ErrAddress)
	case !secure && (s.token != "" || s.tokenFile != "") && isRemote(host):
		err = fmt.Errorf("%w: server is http://, where the token would go over the network in clear", driver.ErrAddress)
	}
	if err != nil {
		return fail(err)
	}
	return s, host, config, nil
}

func (s *Store) check(ctx context.Context) error {
	_, err := s.page(ctx, url.Values{"limit": {"1"}})
	return err
}

// inCluster returns the API server of this pod's cluster.
func inCluster() (string, error) {
	host, port := os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT")
	if host == "" || port == "" {
		return "", fmt.Errorf("%w: it has no server, and this is not a pod (there is no KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT)", driver.ErrAddress)
	}
	return "https://" + net.JoinHostPort(host, port), nil
}

// parseServer returns host:port of a server's URL, and whether the scheme is https.
func parseServer(server string) (host string, secure bool, err error) {
	u, err := url.Parse(server)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || strings.Trim(u.Path, "/") != "" ||
		u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", false, fmt.Errorf("%w: server is not https://host:port", driver.ErrAddress)
	}
	port := u.Port()
	if port == "" {
		port = map[bool]string{true: "443", false: "80"}[u.Scheme == "https"]
	}
	return net.JoinHostPort(u.Hostname(), port), u.Scheme == "https", nil
}

func (s *Store) close() error {
	s.client.close()
	return nil
}

// A lease holds the used fields of an object.
type lease struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Metadata   metadata `json:"metadata"`
	Spec       struct{} `json:"spec"`
}

type metadata struct {
	Name            string            `json:"name,omitempty"`
	Namespace       string            `json:"namespace,omitempty"`
	UID             string            `json:"uid,omitempty"`
	ResourceVersion string            `json:"resourceVersion,omitempty"`
	Labels          map[string]string `json:"labels,omitempty"`
	Annotations     map[string]string `json:"annotations,omitempty"`

	// The store reads these and never writes them.
	DeletionTimestamp string            `json:"deletionTimestamp,omitempty"`
	OwnerReferences   []json.RawMessage `json:"ownerReferences,omitempty"`
}

const apiVersion = "coordination.k8s.io/v1"

// name returns the name of the object for a key.
func (s *Store) name(key string) (string, error) {
	name := s.prefix + encode(key)
	if len(name) > maxObject {
		return "", fmt.Errorf("%w: %.50q… is too long: its object would have a name of %d bytes, where Kubernetes takes %d", driver.ErrKey, key, len(name), maxObject)
	}
	return name, nil
}

// path returns the path of all leases of the namespace, or of one lease.
func (s *Store) path(name string) string {
	p := "/apis/" + apiVersion + "/namespaces/" + s.namespace + "/leases"
	if name != "" {
		p += "/" + name
	}
	return p
}

func (s *Store) get(ctx context.Context, key string) (driver.Entry, error) {
	name, err := s.name(key)
	if err != nil {
		return driver.Entry{}, err
	}
	reply, err := s.do(ctx, request{method: http.MethodGet, path: s.path(name)})
	if err != nil {
		return driver.Entry{}, err
	}
	if reply.status != http.StatusOK {
		if st := statusOf(reply); st.is("NotFound", name) {
			return driver.Entry{}, driver.ErrNotFound
		}
		return driver.Entry{}, s.failed(reply)
	}
	var l lease
	if err := s.read(reply, &l); err != nil {
		return driver.Entry{}, s.unexpected("the answer is not a Lease: %v", err)
	}
	if err := s.checkObject(l, name, "Lease"); err != nil {
		return driver.Entry{}, err
	}
	e := s.entry(key, l)
	return e, e.Err
}

// Confirm returns the entry of a key now. A GET without resourceVersion is not answered from the API
// server's cache: the API server reads from etcd, where a majority must agree.
func (s *Store) Confirm(ctx context.Context, key string) (driver.Entry, error) {
	return driver.Confirm(ctx, s.Handle, key, s.get)
}

// checkObject returns an error unless an object has the name and the kind. Objects in a list have
// no kind.
func (s *Store) checkObject(l lease, name, kind string) error {
	m := l.Metadata
	switch {
	case l.Kind != kind || kind != "" && l.APIVersion != apiVersion:
		return s.unexpected("the answer is a %.50q of %.50q, not a Lease of %s", l.Kind, l.APIVersion, apiVersion)
	case m.Name != name || m.Namespace != s.namespace:
		return s.unexpected("the answer is about %.100q in %.100q", m.Name, m.Namespace)
	case m.UID == "" || strings.Contains(m.UID, ".") || m.ResourceVersion == "":
		return s.unexpected("the answer has no uid, or no resourceVersion")
	}
	return nil
}

func (s *Store) entry(key string, l lease) driver.Entry {
	e := driver.Entry{Key: key, Revision: revision(l)}
	text, ok := l.Metadata.Annotations[valueAnnotation]
	if !ok {
		e.Err = fmt.Errorf("%w: the Lease %s has no annotation %s", driver.ErrDamaged, l.Metadata.Name, valueAnnotation)
		return e
	}
	var err error
	if e.Value, err = base64.StdEncoding.Strict().DecodeString(text); err != nil {
		e.Err = fmt.Errorf("%w: the Lease %s has an annotation %s that is not base64", driver.ErrDamaged, l.Metadata.Name, valueAnnotation)
	} else if len(e.Value) > driver.MaxValue {
		e.Err = fmt.Errorf("%w: the Lease %s has %d bytes, more than an entry", driver.ErrDamaged, l.Metadata.Name, len(e.Value))
	}
	return e
}

func revision(l lease) driver.Revision {
	return driver.Revision(l.Metadata.UID + "." + l.Metadata.ResourceVersion)
}

// list leaves out objects that no store can have written. It does not select objects by labels: a
// lease would take an entry that has lost the label for a missing entry.
func (s *Store) list(ctx context.Context, prefix string) ([]driver.Entry, error) {
	leases, _, err := s.all(ctx)
	if err != nil {
		return nil, err
	}
	var entries []driver.Entry
	for _, l := range leases {
		key, ok := s.keyOf(l)
		if !ok || !strings.HasPrefix(key, prefix) {
			continue
		}
		if err := s.checkObject(l, l.Metadata.Name, l.Kind); err != nil {
			return nil, err
		}
		entries = append(entries, s.entry(key, l))
	}
	return entries, nil
}

// Batch returns 16: each record is an object, and a request.
func (s *Store) Batch() int { return 16 }

// GetAll returns the entries of keys, by requests at the same time.
func (s *Store) GetAll(ctx context.Context, keys []string) ([]driver.Entry, error) {
	return driver.GetAll(ctx, s.Handle, keys, func(ctx context.Context, keys []string) ([]driver.Entry, error) {
		entries, errs := make([]driver.Entry, len(keys)), make([]error, len(keys))
		atOnce(len(keys), func(i int) { entries[i], errs[i] = s.get(ctx, keys[i]) })
		var found []driver.Entry
		for i, err := range errs {
			switch {
			case errors.Is(err, driver.ErrNotFound):
				continue
			case err != nil && !errors.Is(err, driver.ErrDamaged):
				return nil, err
			}
			entries[i].Key, entries[i].Err = keys[i], err
			found = append(found, entries[i])
		}
		return found, nil
	})
}

// CreateAll creates the entries that don't exist, by requests at the same time.
func (s *Store) CreateAll(ctx context.Context, entries []driver.Entry) ([]driver.Revision, error) {
	return driver.CreateAll(ctx, s.Handle, entries, func(ctx context.Context, entries []driver.Entry) ([]driver.Revision, error) {
		revs, errs := make([]driver.Revision, len(entries)), make([]error, len(entries))
		atOnce(len(entries), func(i int) { revs[i], errs[i] = s.put(ctx, entries[i].Key, entries[i].Value, driver.None) })
		for _, err := range errs {
			if err != nil && !errors.Is(err, driver.ErrConflict) {
				return nil, err
			}
		}
		return revs, nil
	})
}

// atOnce calls f with the numbers below n at the same time.
func atOnce(n int, f func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { f(i) })
	}
	all.Wait()
}

// keyOf returns the key of an object. ok is false if the object does not belong to the store.
func (s *Store) keyOf(l lease) (key string, ok bool) {
	name, ok := strings.CutPrefix(l.Metadata.Name, s.prefix)
	if !ok {
		return "", false
	}
	return decode(name)
}

type leaseList struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		ResourceVersion string `json:"resourceVersion"`
		Continue        string `json:"continue"`
	} `json:"metadata"`
	Items []lease `json:"items"`
}

// errGone reports that the API no longer has the state at which a page or a watch began.
var errGone = errors.New("the API has forgotten that state")

// all returns all leases of the namespace, and the resourceVersion of that state. All pages show
// the state at the first page. When the API no longer has the state, all begins again, the last
// time without pages.
func (s *Store) all(ctx context.Context) (leases []lease, version string, err error) {
	for try := 1; ; try++ {
		leases = nil
		query := url.Values{"limit": {strconv.Itoa(pageSize)}}
		if try > 2 {
			query.Del("limit")
		}
		for {
			page, err := s.page(ctx, query)
			if errors.Is(err, errGone) && try <= 2 {
				break
			}
			if err != nil {
				return nil, "", err
			}
			leases, version = append(leases, page.Items...), page.Metadata.ResourceVersion
			if page.Metadata.Continue == "" {
				return leases, version, nil
			}
			query.Set("continue", page.Metadata.Continue)
		}
	}
}

// page reads one page of the leases of the namespace.
func (s *Store) page(ctx context.Context, query url.Values) (*leaseList, error) {
	reply, err := s.do(ctx, request{method: http.MethodGet, path: s.path(""), query: query})
	switch {
	case err != nil:
		return nil, err
	case reply.status == http.StatusGone:
		return nil, errGone
	case reply.status != http.StatusOK:
		return nil, s.failed(reply)
	}
	var l leaseList
	if err := s.read(reply, &l); err != nil {
		return nil, s.unexpected("the answer is not a LeaseList: %v", err)
	}
	if l.Kind != "LeaseList" || l.APIVersion != apiVersion || l.Metadata.ResourceVersion == "" {
		return nil, s.unexpected("the answer is a %.50q of %.50q, not a LeaseList of %s", l.Kind, l.APIVersion, apiVersion)
	}
	return &l, nil
}

// put repeats a request only if the request could not be sent, or if the API reports too many
// requests.
func (s *Store) put(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
	name, err := s.name(key)
	if err != nil {
		return driver.None, err
	}
	l := lease{APIVersion: apiVersion, Kind: "Lease", Metadata: metadata{Name: name, Namespace: s.namespace,
		Labels:      map[string]string{managedLabel: "firn", prefixLabel: strings.TrimSuffix(s.prefix, ".")},
		Annotations: map[string]string{valueAnnotation: base64.StdEncoding.EncodeToString(value), writeAnnotation: rand.Text()}}}
	r := request{method: http.MethodPost, path: s.path(""), writes: true}
	verb, conflict := "create", "AlreadyExists"
	if rev != driver.None {
		var ok bool
		l.Metadata.UID, l.Metadata.ResourceVersion, ok = strings.Cut(string(rev), ".")
		if !ok || l.Metadata.UID == "" || l.Metadata.ResourceVersion == "" {
			return driver.None, driver.ErrConflict // no object has the revision
		}
		r.method, r.path = http.MethodPut, s.path(name)
		verb, conflict = "update", "Conflict"
	}
	if r.body, err = json.Marshal(l); err != nil {
		return driver.None, err
	}
	reply, err := s.do(ctx, r)
	if err != nil {
		return driver.None, err
	}
	if reply.status != http.StatusOK && reply.status != http.StatusCreated {
		// A missing object does not have the revision either.
		if st := statusOf(reply); st.is(conflict, name) || verb == "update" && st.is("NotFound", name) {
			return driver.None, driver.ErrConflict
		}
		return driver.None, s.failed(reply)
	}
	var made lease
	if err := s.read(reply, &made); err != nil {
		return driver.None, s.unexpected("the answer is not a Lease: %v", err)
	}
	if err := s.checkObject(made, name, "Lease"); err != nil {
		return driver.None, err
	}
	switch {
	case made.Metadata.Annotations[valueAnnotation] != l.Metadata.Annotations[valueAnnotation],
		made.Metadata.Annotations[writeAnnotation] != l.Metadata.Annotations[writeAnnotation]:
		return driver.None, &driver.Error{Err: fmt.Errorf("%w: the API has not written the object as asked: a webhook or a policy has changed it", driver.ErrUnsafe),
			Remedy: driver.RemedySettings}
	case rev != driver.None && (made.Metadata.UID != l.Metadata.UID || revision(made) == rev):
		return driver.None, &driver.Error{Err: fmt.Errorf("%w: the API was asked to change one object, and has made another one, or changed none", driver.ErrUnsafe),
			Remedy: driver.RemedyAddress}
	}
	return revision(made), nil
}

// read decodes a reply.
func (s *Store) read(reply *answer, into any) error {
	return json.NewDecoder(bytes.NewReader(reply.body)).Decode(into)
}
