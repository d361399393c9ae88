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
// UID, as does a copy of the object, such as one from a backup. Put creates an object with POST and
// changes it with PUT of UID and resourceVersion; without the UID, a PUT would create a missing Lease.
// The API ignores a write of the same content and makes no new resourceVersion. Each write therefore
// has another annotation, at random, and is a change.
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
package kubelease

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
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
	http      *http.Client
	server    string // the URL of the API server, without a path
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
	s, config, err := settle(a, err, account)
	if err != nil {
		return nil, err
	}
	s.http = newClient(config, s.timeout)
	s.Handle = driver.New(driver.Backend{
		Address: a.String(), Timeout: s.timeout, Get: s.get, List: s.list, Put: s.put, Diagnose: s.diagnose,
		Close: func() error { s.http.CloseIdleConnections(); return nil },
	})
	if err := driver.Do(ctx, s.Handle, "open", s.check); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// settle returns a store with the settings of an address, and the settings of TLS, given the result of reading the
// address. The store has no client yet. [Open] and [Permissions] read addresses here alone. Permissions may be asked for outside
// of the pod: for an address read by [address.ParseAlone], settle looks for no server.
func settle(a *address.Address, err error, account string) (*Store, *tls.Config, error) {
	if err != nil {
		return nil, nil, driver.OpenError("kubernetes", err, driver.RemedyAddress)
	}
	s := &Store{timeout: a.Duration("timeout", DefaultTimeout), tokenFile: a.Text("token-file", ""), token: a.Secret("token")}
	server, ca, cert := a.Text("server", ""), a.Text("ca", ""), a.Text("cert", "")
	config := a.TLS()
	if err = a.Err(); err == nil {
		err = s.locate(a, account)
	}
	if err == nil && server == "" && !a.Alone() {
		if server, err = inCluster(); err == nil && ca == "" {
			config, err = withAuthority(config, account+"/ca.crt")
		}
		if s.token == "" && s.tokenFile == "" && cert == "" {
			s.tokenFile = account + "/token"
		}
	}
	if err == nil && server != "" {
		config, err = s.connect(server, config, a.Text("tls", ""))
	}
	if err != nil {
		return nil, nil, driver.OpenError(a.String(), err, driver.RemedyAddress)
	}
	return s, config, nil
}

// locate sets the namespace and the prefix.
func (s *Store) locate(a *address.Address, account string) error {
	if len(a.Hosts) == 0 {
		if a.Alone() {
			return fmt.Errorf("%w: it names no namespace, as in kubernetes://namespace/prefix", driver.ErrAddress)
		}
		namespace, err := os.ReadFile(account + "/namespace")
		if err != nil {
			return fmt.Errorf("%w: it has no namespace, and this is not a pod: %w", driver.ErrAddress, err)
		}
		a.Hosts = []string{strings.TrimSpace(string(namespace))}
	}
	a.Path = cmp.Or(strings.TrimRight(a.Path, "/"), DefaultPrefix)
	switch {
	case a.Scheme != "kubernetes":
		return fmt.Errorf("%w: it begins with %s://, not kubernetes://", driver.ErrAddress, a.Scheme)
	case a.User != "":
		return fmt.Errorf("%w: it has a user: give a token", driver.ErrAddress)
	case len(a.Hosts) != 1 || !isLabel(a.Hosts[0]):
		return fmt.Errorf("%w: %.100q is not a namespace: the API server is the setting server", driver.ErrAddress, strings.Join(a.Hosts, ","))
	case !isLabel(a.Path):
		return fmt.Errorf("%w: the prefix %.100q is not of lower-case letters, digits, and '-' inside, at most 63", driver.ErrAddress, a.Path)
	}
	s.namespace, s.prefix = a.Hosts[0], a.Path+"."
	return nil
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

// withAuthority returns the settings of TLS with the authority of the cluster.
func withAuthority(config *tls.Config, ca string) (*tls.Config, error) {
	if config == nil {
		config = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	pem, err := os.ReadFile(ca)
	if err != nil {
		return nil, fmt.Errorf("%w: it has no ca, and this is not a pod: %w", driver.ErrAddress, err)
	}
	if config.RootCAs = x509.NewCertPool(); !config.RootCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%w: %s holds no certificate in PEM", driver.ErrAddress, ca)
	}
	return config, nil
}

// connect sets the server, and returns the settings of TLS for it. Tls is the setting of the address.
func (s *Store) connect(server string, config *tls.Config, setting string) (*tls.Config, error) {
	u, err := url.Parse(server)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || strings.Trim(u.Path, "/") != "" ||
		u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("%w: server is not https://host:port", driver.ErrAddress)
	}
	secure, ip := u.Scheme == "https", net.ParseIP(u.Hostname())
	near := u.Hostname() == "localhost" || ip.IsLoopback()
	switch {
	case secure && setting == "false":
		return nil, fmt.Errorf("%w: server is https://, which does not go with tls=false", driver.ErrAddress)
	case secure && config == nil:
		config = &tls.Config{MinVersion: tls.VersionTLS12}
	case !secure && config != nil:
		return nil, fmt.Errorf("%w: server is http://, which goes without tls, ca, cert, key and server-name", driver.ErrAddress)
	case !secure && (s.token != "" || s.tokenFile != "") && !near:
		return nil, fmt.Errorf("%w: server is http://, where the token would go over the network in clear", driver.ErrAddress)
	}
	s.server = u.Scheme + "://" + u.Host
	return config, nil
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
	l, err := s.object(reply, name)
	if err != nil {
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

// object returns the object in an answer.
func (s *Store) object(reply *answer, name string) (l lease, err error) {
	if err := json.Unmarshal(reply.body, &l); err != nil {
		return l, s.unexpected("the answer is not a Lease: %v", err)
	}
	return l, s.checkObject(l, name, "Lease")
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
	e := driver.Entry{Key: key, Revision: revision(l), Place: l.Metadata.UID}
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
	leases, err := s.all(ctx)
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

// errGone reports that the API no longer has the state at which the pages began.
var errGone = errors.New("the API has forgotten that state")

// all returns all leases of the namespace. All pages show the state at the first page. When the API no
// longer has the state, all begins again, the last time without pages.
func (s *Store) all(ctx context.Context) ([]lease, error) {
	for try := 1; ; try++ {
		var leases []lease
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
				return nil, err
			}
			leases = append(leases, page.Items...)
			if page.Metadata.Continue == "" {
				return leases, nil
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
	if err := json.Unmarshal(reply.body, &l); err != nil {
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
	r.body = l
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
	made, err := s.object(reply, name)
	if err != nil {
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
