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
	"slices"
	"strings"

	"github.com/firn-id/firn/lease/address"
	"github.com/firn-id/firn/lease/driver"
)

// do makes a request.
func (s *Store) do(ctx context.Context, r request) (*answer, error) {
	var err error
	if r.header, err = s.header(); err != nil {
		return nil, err
	}
	return s.client.do(ctx, r)
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
	fail := func(err error) (string, error) {
		return "", &driver.Error{Err: fmt.Errorf("%w: the token: %w", driver.ErrUnavailable, err), Remedy: driver.RemedyAddress}
	}
	token := s.token
	if s.tokenFile != "" {
		content, err := os.ReadFile(s.tokenFile)
		if err != nil {
			return fail(err)
		}
		if token = strings.TrimSpace(string(content)); token == "" {
			return fail(fmt.Errorf("%s is empty", s.tokenFile))
		}
	}
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return fail(errors.New("it has a character that tokens do not have, such as a line break"))
	}
	return token, nil
}

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
func statusOf(r *answer) status {
	var st status
	if json.Unmarshal(r.body, &st) != nil || st.Kind != "Status" {
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

// unexpected returns the error for an answer that the API does not give.
func (s *Store) unexpected(format string, args ...any) error {
	return &driver.Error{Err: fmt.Errorf("%w: %s", driver.ErrUnavailable, s.hide(fmt.Sprintf(format, args...))), Remedy: driver.RemedyAddress}
}

// hide removes the token from a text.
func (s *Store) hide(text string) string {
	token, err := s.currentToken()
	if err != nil || token == "" {
		return text
	}
	return strings.ReplaceAll(text, token, "(token)")
}

// diagnose returns what helps against a damaged entry, or a request without an answer.
func (s *Store) diagnose(err error) (driver.Remedy, error) {
	switch {
	case errors.Is(err, driver.ErrDamaged):
		return "", driver.ErrDamaged
	case errors.Is(err, driver.ErrKey):
		return "", driver.ErrKey
	case errors.Is(err, errGone):
		return driver.RemedyWait, driver.ErrUnavailable
	}
	return remedyOf(err), driver.ErrUnavailable
}

// failed returns the error for a reply that is neither what was asked for nor about the entry.
func (s *Store) failed(r *answer) error {
	st := statusOf(r)
	reason := st.Message
	if reason == "" {
		reason = r.reason()
	}
	if code, said, ok := strings.Cut(reason, " desc = "); ok && strings.HasPrefix(code, "rpc error: code = ") {
		reason = said // of etcd, passed on by the API server
	}
	kind := driver.ErrUnavailable
	if r.status == http.StatusUnauthorized || r.status == http.StatusForbidden || r.status == http.StatusNotFound {
		kind = driver.ErrRefused
	}
	return &driver.Error{Err: fmt.Errorf("%w: the API says %d: %s", kind, r.status, s.hide(reason)), Remedy: remedyFor(r.status, st)}
}

func remedyFor(code int, st status) driver.Remedy {
	has := func(part string) bool { return strings.Contains(st.Message, part) }
	switch {
	case slices.ContainsFunc(st.Details.Causes, func(c cause) bool { return c.Reason == "NamespaceTerminating" }):
		return driver.RemedyMove
	case st.noNamespace():
		return driver.RemedyCreate
	// A webhook or a policy may refuse with any code.
	case code == http.StatusUnprocessableEntity, has(" denied the request"), has(" denied request"), has("exceeded quota"):
		return driver.RemedySettings
	// A request without a token is of the user system:anonymous, who must not get rights.
	case code == http.StatusUnauthorized, has("\"system:anonymous\""), code == http.StatusForbidden && st.Kind != "":
		return driver.RemedyPermissions
	case code/100 == 3, (code == http.StatusBadRequest || code == http.StatusForbidden) && st.Kind == "", code == http.StatusNotFound:
		return driver.RemedyAddress // not the API server
	case code == http.StatusConflict: // something else than the entry was changed meanwhile
		return driver.RemedyWait
	case code >= 500: // the API server does not answer without its etcd
		return driver.RemedyConnect
	}
	return driver.RemedySettings
}

// create is what to do about a missing namespace.
func (s *Store) create() driver.Finding {
	return driver.Finding{Advice: "kubectl create namespace " + s.namespace, Remedy: driver.RemedyCreate}
}

// allow is what to do about missing verbs on leases.
func (s *Store) allow(verbs string) string {
	return fmt.Sprintf("let the service account %s leases in the namespace %s: a Role with the verbs get, list, create, update and watch on leases of coordination.k8s.io, and a RoleBinding",
		verbs, s.namespace)
}
