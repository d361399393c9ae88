package consullease

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/internal/rest"
)

// do makes a request. The status of its reply is 200, 404 or 409.
func (s *Store) do(ctx context.Context, r rest.Request) (*rest.Reply, error) {
	if s.token != "" {
		r.Header = http.Header{"X-Consul-Token": {s.token}}
	}
	reply, err := s.client.Do(ctx, r)
	switch {
	case err != nil:
		return nil, err
	case reply.Status == http.StatusOK, reply.Status == http.StatusNotFound && r.Method == http.MethodGet,
		reply.Status == http.StatusConflict && r.Writes:
		return reply, nil
	}
	return nil, s.failed(reply.Status, reply.Reason())
}

// refused reports whether Consul refused a request before doing anything, because there is no
// leader or there are too many requests.
func refused(r *rest.Reply) bool {
	return r.Status == http.StatusTooManyRequests ||
		r.Status == http.StatusInternalServerError && strings.HasSuffix(strings.TrimSpace(string(r.Body)), "No cluster leader")
}

// within adds the scope to the parameters of a request.
func (c scope) within(query url.Values) url.Values {
	for name, value := range map[string]string{"dc": c.datacenter, "ns": c.namespace, "partition": c.partition} {
		if value != "" {
			query.Set(name, value)
		}
	}
	return query
}

// datacenter returns the parameters of a transaction. The operations of the transaction have the
// rest of the scope.
func (s *Store) datacenter() url.Values {
	return scope{datacenter: s.scope.datacenter}.within(url.Values{})
}

// read reads keys. A reply without X-Consul-Index does not come from Consul: the status 404 does
// not mean a missing key.
func (s *Store) read(ctx context.Context, name string, query url.Values) (*rest.Reply, error) {
	_, waits := query["index"]
	reply, err := s.do(ctx, rest.Request{Method: http.MethodGet, Path: "/v1/kv/" + name, Query: s.scope.within(query), Long: waits, Refused: refused})
	if err != nil {
		return nil, err
	}
	consistency := reply.Header.Get("X-Consul-Effective-Consistency")
	_, consistent := query["consistent"]
	switch {
	case reply.Header.Get("X-Consul-Index") == "":
		return nil, s.unexpected("%d, without X-Consul-Index", reply.Status)
	case reply.Header.Get("X-Consul-Results-Filtered-By-ACLs") == "true":
		return nil, s.failed(http.StatusForbidden, "the token may not read all keys under "+s.prefix)
	case consistent && consistency != "" && consistency != "consistent":
		return nil, &driver.Error{Err: fmt.Errorf("%w: Consul was asked to read consistently, and has read in the mode %.20q", driver.ErrUnsafe, consistency),
			Remedy: driver.RemedySettings} // a proxy changes requests
	}
	return reply, nil
}

// pairs reads keys and values.
func (s *Store) pairs(ctx context.Context, name string, query url.Values) ([]pair, error) {
	reply, err := s.read(ctx, name, query)
	if err != nil || reply.Status == http.StatusNotFound {
		return nil, err
	}
	var pairs []pair
	if err := json.Unmarshal(reply.Body, &pairs); err != nil {
		return nil, s.unexpected("the answer is not a list of keys and values: %v", err)
	}
	if len(pairs) == 0 { // Consul says 404
		return nil, s.unexpected("the answer is an empty list")
	}
	return pairs, nil
}

// unexpected returns the error for an answer that Consul does not give.
func (s *Store) unexpected(format string, args ...any) error {
	return &driver.Error{Err: fmt.Errorf("%w: %s", driver.ErrUnavailable, s.hide(fmt.Sprintf(format, args...))), Remedy: driver.RemedyAddress}
}

// hide removes the token from a text.
func (s *Store) hide(text string) string {
	if s.token == "" {
		return text
	}
	return strings.ReplaceAll(text, s.token, "(token)")
}

// diagnose returns what helps against a damaged entry, or a request without an answer.
func (s *Store) diagnose(err error) (driver.Remedy, error) {
	if errors.Is(err, driver.ErrDamaged) {
		return "", driver.ErrDamaged
	}
	return rest.Remedy(err), driver.ErrUnavailable
}

// failed returns the error for a request that Consul refused with a status and a reason.
func (s *Store) failed(status int, reason string) error {
	reason = s.hide(reason)
	kind := driver.ErrUnavailable
	if status == http.StatusUnauthorized || status == http.StatusForbidden {
		kind = driver.ErrRefused
	}
	return &driver.Error{Err: fmt.Errorf("%w: Consul says %d: %s", kind, status, reason), Remedy: remedyFor(status, reason)}
}

func remedyFor(status int, reason string) driver.Remedy {
	has := func(part string) bool { return strings.Contains(reason, part) }
	switch {
	case has("ACL not found"):
		return driver.RemedyPermissions
	case status == http.StatusUnauthorized: // Consul refuses requests of leases as forbidden
		return driver.RemedyAddress
	case has("No cluster leader"), has("leadership lost"), has("not the leader"):
		return driver.RemedyConnect
	case has("No path to datacenter"), has("Enterprise"): // datacenter; namespace and partition
		return driver.RemedyAddress
	case has("blocked by agent configuration"), has("Access is restricted"):
		return driver.RemedySettings
	case status == http.StatusForbidden:
		return driver.RemedyPermissions
	case status/100 == 3, status == http.StatusBadRequest && has("HTTPS"), status == http.StatusNotFound, status == http.StatusMethodNotAllowed:
		return driver.RemedyAddress // not Consul, or not its port for HTTP
	}
	return driver.RemedySettings
}
