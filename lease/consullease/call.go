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
	"github.com/firn-id/firn/lease/internal/advice"
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
			Advice: "look for a proxy between here and Consul that changes requests"}
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

const (
	listens = "see that Consul listens there, on the port for HTTP, and what is between here and Consul"
	// Without a leader, consul operator raft list-peers fails unless -stale lets any server answer.
	leads = "see that more than half of the servers are up and reach each other (consul operator raft list-peers -stale)"
)

// unexpected returns the error for an answer that Consul does not give.
func (s *Store) unexpected(format string, args ...any) error {
	return &driver.Error{Err: fmt.Errorf("%w: %s", driver.ErrUnavailable, s.hide(fmt.Sprintf(format, args...))), Advice: listens}
}

// hide removes the token from a text.
func (s *Store) hide(text string) string {
	if s.token == "" {
		return text
	}
	return strings.ReplaceAll(text, s.token, "(token)")
}

// diagnose returns what to do about a damaged entry, or about a request without an answer.
func (s *Store) diagnose(err error) (what string, kind error) {
	if errors.Is(err, driver.ErrDamaged) {
		return "see what else writes under the prefix " + s.prefix + "; then " + advice.Damaged, driver.ErrDamaged
	}
	return rest.Advice(err, "Consul"), driver.ErrUnavailable
}

// failed returns the error for a request that Consul refused with a status and a reason.
func (s *Store) failed(status int, reason string) error {
	reason = s.hide(reason)
	kind := driver.ErrUnavailable
	if status == http.StatusUnauthorized || status == http.StatusForbidden {
		kind = driver.ErrRefused
	}
	return &driver.Error{Err: fmt.Errorf("%w: Consul says %d: %s", kind, status, reason), Advice: s.advice(status, reason)}
}

func (s *Store) advice(status int, what string) string {
	has := func(part string) bool { return strings.Contains(what, part) }
	switch {
	case has("ACL not found"):
		return "look at the token (token-file, token-env): Consul does not know it"
	case status == http.StatusUnauthorized: // Consul refuses requests of leases as forbidden
		return listens
	case has("No cluster leader"), has("leadership lost"), has("not the leader"):
		return leads
	case has("No path to datacenter"):
		return "look at datacenter"
	case has("Enterprise"):
		return "leave out namespace and partition, which only Consul Enterprise has"
	case status == http.StatusForbidden && has("blocked by agent configuration"):
		return "take the path out of block_endpoints of the agent (http_config)"
	case status == http.StatusForbidden && has("Access is restricted"):
		return "add the network of this machine to allow_write_http_from of the agent (http_config)"
	case status == http.StatusForbidden && has("operator:read"):
		return "to find out, add operator = \"read\" to the policy of the token"
	case status == http.StatusForbidden && has("agent:read"):
		return "to find out, add agent_prefix \"\" { policy = \"read\" } to the policy of the token"
	case status == http.StatusForbidden:
		return "give a token (token-file, token-env) whose policy has " + writeRule(s.prefix)
	case status == http.StatusRequestEntityTooLarge:
		return "raise limits of the agent: kv_max_value_size to 4096 or more, and txn_max_req_len to 8192 or more"
	case status == http.StatusTooManyRequests, has("rate limit exceeded"): // the leader says 503
		return "raise limits: http_max_conns_per_client or rpc_rate of the agent, or request_limits of the servers"
	case status/100 == 3:
		return "see that Consul listens there: it never redirects requests of leases"
	case status == http.StatusBadRequest && has("HTTPS"):
		return "the server speaks TLS: set tls=true or ca"
	case status == http.StatusNotFound, status == http.StatusMethodNotAllowed:
		return "see that Consul 1.0 or later listens there, on the port for HTTP"
	}
	return "see what the agent and the servers say in their logs"
}
