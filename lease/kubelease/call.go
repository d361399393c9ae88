package kubelease

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/firn-id/firn/lease/address"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/internal/advice"
	"github.com/firn-id/firn/lease/internal/rest"
)

// do makes a request.
func (s *Store) do(ctx context.Context, r rest.Request) (*rest.Reply, error) {
	var err error
	if r.Header, err = s.header(); err != nil {
		return nil, err
	}
	r.Refused = refused
	return s.client.Do(ctx, r)
}

// header returns the header of a request, with the present token.
func (s *Store) header() (http.Header, error) {
	token, err := s.currentToken()
	if err != nil {
		return nil, err
	}
	if token == "" {
		return http.Header{}, nil
	}
	return http.Header{"Authorization": {"Bearer " + token}}, nil
}

// currentToken returns the present token, or "" if the store has none. The error is a *driver.Error.
func (s *Store) currentToken() (string, error) {
	fail := func(err error, advice string) (string, error) {
		return "", &driver.Error{Err: fmt.Errorf("%w: the token: %w", driver.ErrUnavailable, err), Advice: advice}
	}
	token := s.token
	if s.tokenFile != "" {
		content, err := os.ReadFile(s.tokenFile)
		if err != nil {
			return fail(err, "see that the file is there, and can be read")
		}
		if token = strings.TrimSpace(string(content)); token == "" {
			return fail(fmt.Errorf("%s is empty", s.tokenFile), "write the token into the file")
		}
	}
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return fail(errors.New("it has a character that tokens do not have"), "give the token alone, without spaces and line breaks")
	}
	return token, nil
}

// refused reports whether the API refused a request before doing anything, because of too many
// requests. The reply has the delay before the next try.
func refused(r *rest.Reply) bool { return r.Status == http.StatusTooManyRequests }

// withAuthority returns the TLS configuration where the address has none. ca is the file of the
// service account's authority, or "" for the system's authorities.
func withAuthority(a *address.Address, ca string) (*tls.Config, error) {
	config := a.TLS()
	if config == nil {
		config = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	if ca == "" {
		return config, nil
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

// A status is the API's answer to a request that failed.
type status struct {
	Kind    string `json:"kind"`
	Message string `json:"message"`
	Reason  string `json:"reason"`
	Details struct {
		Name   string  `json:"name"`
		Group  string  `json:"group"`
		Kind   string  `json:"kind"`
		Causes []cause `json:"causes"`
	} `json:"details"`
	Code int `json:"code"`
}

type cause struct {
	Reason string `json:"reason"`
}

// statusOf returns the status in a reply, or a status without a kind.
func statusOf(r *rest.Reply) status {
	var st status
	if json.Unmarshal(r.Body, &st) != nil || st.Kind != "Status" {
		return status{}
	}
	return st
}

// is reports whether a status has the reason and is about the lease of the name. A proxy can say
// NotFound of a path, and the API of a namespace or a quota.
func (st status) is(reason, name string) bool {
	return st.Kind == "Status" && st.Reason == reason && st.Details.Kind == "leases" && st.Details.Name == name
}

// noNamespace reports whether a status says that the namespace is missing.
func (st status) noNamespace() bool {
	return st.Reason == "NotFound" && st.Details.Kind == "namespaces"
}

// between is what to do about an answer that the API does not give.
const between = "see that the API of Kubernetes answers there, and what is between here and the API"

// unexpected returns the error for an answer that the API does not give.
func (s *Store) unexpected(format string, args ...any) error {
	return &driver.Error{Err: fmt.Errorf("%w: %s", driver.ErrUnavailable, s.hide(fmt.Sprintf(format, args...))),
		Advice: between}
}

// hide removes the token from a text.
func (s *Store) hide(text string) string {
	token, err := s.currentToken()
	if err != nil || token == "" {
		return text
	}
	return strings.ReplaceAll(text, token, "(token)")
}

// diagnose returns what to do about a damaged entry, or about a request without an answer.
func (s *Store) diagnose(err error) (what string, kind error) {
	switch {
	case errors.Is(err, driver.ErrDamaged):
		return "see what has written it; then " + advice.Damaged, driver.ErrDamaged
	case errors.Is(err, driver.ErrKey):
		return "", driver.ErrKey
	case errors.Is(err, errGone):
		return "try again", driver.ErrUnavailable
	case errors.Is(err, context.DeadlineExceeded):
		return "see that the API server and its etcd are up (without etcd it does not answer), and that the network lets you through", driver.ErrUnavailable
	// The scheme of the setting server alone says whether the store speaks TLS.
	case rest.IsPlain(err):
		return "the server speaks without TLS, unlike the API server: see that the port is right, or use http:// for a proxy on this machine (kubectl proxy)", driver.ErrUnavailable
	case rest.IsNotHTTP(err):
		return "see that the API server listens there, and that server begins with https://, if it speaks TLS", driver.ErrUnavailable
	}
	return rest.Advice(err, "the API server"), driver.ErrUnavailable
}

// failed returns the error for a reply that is neither what was asked for nor about the entry.
func (s *Store) failed(verb string, r *rest.Reply) error {
	st := statusOf(r)
	reason := st.Message
	if reason == "" {
		reason = r.Reason()
	}
	kind := driver.ErrUnavailable
	if r.Status == http.StatusUnauthorized || r.Status == http.StatusForbidden || r.Status == http.StatusNotFound {
		kind = driver.ErrRefused
	}
	return &driver.Error{Err: fmt.Errorf("%w: the API says %d: %s", kind, r.Status, s.hide(reason)), Advice: s.advice(verb, r.Status, st)}
}

func (s *Store) advice(verb string, code int, st status) string {
	terminating := false
	for _, c := range st.Details.Causes {
		terminating = terminating || c.Reason == "NamespaceTerminating"
	}
	switch {
	case terminating:
		return "the namespace " + s.namespace + " is being deleted, and all its entries with it: " + advice.Move("in another one")
	case st.noNamespace():
		return s.create()
	// A webhook or a policy may refuse with any code.
	case code == http.StatusUnprocessableEntity, strings.Contains(st.Message, " denied the request"), strings.Contains(st.Message, " denied request"):
		return "see which policy or webhook refuses it, and what for"
	case strings.Contains(st.Message, "exceeded quota"):
		return "raise the quota of leases in the namespace " + s.namespace
	// A request without a token is of the user system:anonymous, who must not get rights.
	case code == http.StatusUnauthorized, strings.Contains(st.Message, "\"system:anonymous\""):
		return "look at the token (token-file), or at cert and key: the API does not know who this is, or no longer"
	case code == http.StatusForbidden && st.Kind == "":
		return between
	case code == http.StatusForbidden && st.Details.Kind != "leases":
		return "bind the account to the ClusterRoles system:basic-user and system:discovery, as Kubernetes does by default"
	case code == http.StatusForbidden:
		return s.allow(verb)
	case code == http.StatusConflict:
		return "try again: something else than the entry was changed meanwhile"
	case code == http.StatusTooManyRequests:
		return "see what makes so many requests, or give this one a FlowSchema whose PriorityLevelConfiguration has more room"
	case code/100 == 3:
		return "see that server is the API server: it never redirects requests of leases"
	case code == http.StatusBadRequest && st.Kind == "":
		return "see that server begins with https://, if it speaks TLS"
	case code == http.StatusNotFound:
		return "see that server is the API of Kubernetes, 1.14 or later, without a path"
	case code >= 500:
		return "see that the API server and its etcd are up (kubectl get --raw '/readyz?verbose')"
	}
	return "see what the API server says in its log"
}

// create is what to do about a missing namespace.
func (s *Store) create() string {
	return "see that the address is right, or create the namespace: kubectl create namespace " + s.namespace + "; " + advice.Lost
}

// allow is what to do about missing verbs on leases.
func (s *Store) allow(verbs string) string {
	return fmt.Sprintf("let the service account %s leases in the namespace %s: a Role with the verbs get, list, create, update and watch on leases of coordination.k8s.io, and a RoleBinding",
		verbs, s.namespace)
}
