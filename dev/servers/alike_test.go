package servers_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/firn-id/firn/internal/testing/consultest"
	"github.com/firn-id/firn/internal/testing/kubetest"
	"github.com/firn-id/firn/internal/testing/servertest"
	"github.com/firn-id/firn/internal/testing/testkit"
)

// A step is a request to the real server and to the pretended server. The answers must be alike. If save is not "", the
// version in the answer gets the name save. In the path and the body of a later step, {name} stands for the version.
type step struct {
	method, path, body string
	token              string // "" for the good token
	save               string
}

// A side is a server, with the versions in its answers.
type side struct {
	client *http.Client
	url    string
	token  string
	header string // of the token
	saved  map[string]string
}

// do makes the request of a step, and returns the answer's status, header and body.
func (s *side) do(t *testing.T, p step) (int, http.Header, []byte) {
	t.Helper()
	var pairs []string
	for name, value := range s.saved {
		pairs = append(pairs, "{"+name+"}", value)
	}
	in := strings.NewReplacer(pairs...)
	r, err := http.NewRequestWithContext(t.Context(), p.method, s.url+in.Replace(p.path), strings.NewReader(in.Replace(p.body)))
	testkit.OK(t, err)
	token := s.token
	if p.token != "" {
		token = p.token
	}
	if s.header == "Authorization" {
		token = "Bearer " + token
	}
	r.Header.Set(s.header, token)
	if p.body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	response, err := s.client.Do(r)
	testkit.OK(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	testkit.OK(t, err)
	return response.StatusCode, response.Header, body
}

// alike makes the requests of the steps to both sides, and compares the summaries of the answers.
func alike(t *testing.T, genuine, pretended *side, steps []step, summary func(s *side, p step, status int, header http.Header, body []byte) string) {
	t.Helper()
	genuine.saved, pretended.saved = map[string]string{}, map[string]string{}
	for _, p := range steps {
		var says []string
		for _, s := range []*side{genuine, pretended} {
			status, header, body := s.do(t, p)
			says = append(says, summary(s, p, status, header, body))
		}
		if says[0] != says[1] {
			t.Errorf("%s %.100s %.200s\n\tthe genuine one      %s\n\tthe pretended one %s", p.method, p.path, p.body, says[0], says[1])
		}
	}
}

// seen returns the name of a version, since the versions themselves differ between two servers.
func (s *side) seen(version string) string {
	for _, name := range slices.Sorted(maps.Keys(s.saved)) {
		if s.saved[name] == version {
			return "{" + name + "}"
		}
	}
	return "new"
}

// particulars are the parts of a message that differ between servers, and between versions of a server.
var particulars = []struct {
	of *regexp.Regexp
	by string
}{
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}|\b\d+\b`), "N"},
	{regexp.MustCompile(`rpc error making call: `), ""}, // if the leader was another server
	{regexp.MustCompile(`(permission 'agent:read' on )"\w+"`), "$1"},
	{regexp.MustCompile(`User "[^"]*"`), "User"},
	{regexp.MustCompile(`(Failed to parse body|Invalid value: "[^"]*"|unrecognized|cannot be handled as a Lease|\w+ in version|continue key is not valid).*`), "$1"},
}

func general(message string) string {
	for _, p := range particulars {
		message = p.of.ReplaceAllString(message, p.by)
	}
	return strings.TrimSpace(message)
}

func TestConsulAlike(t *testing.T) {
	c := servertest.NewConsul(t)
	token, err := c.Token(t.Context(), "test")
	testkit.OK(t, err)
	reader, err := c.Token(t.Context(), "test", "write", "read")
	testkit.OK(t, err)
	below := func(key string) bool { return strings.HasPrefix(key, "test/") }
	pretended := consultest.New()
	pretended.Tokens = map[string]consultest.Policy{token: {Read: below, Write: below}, reader: {Read: below}}
	pretended.Set("other/a", func(*consultest.Pair) {})
	other, err := c.Token(t.Context(), "other")
	testkit.OK(t, err)
	testkit.OK(t, c.WaitHealthy(t.Context()))
	sides := []*side{
		{client: http.DefaultClient, url: "http://" + c.Endpoints()[0], token: token, header: "X-Consul-Token"},
		{client: http.DefaultClient, url: pretended.Start(t).URL, token: token, header: "X-Consul-Token"},
	}
	sides[0].do(t, step{method: "PUT", path: "/v1/kv/other/a", token: other})

	cas := func(key, value string, flags int, index string) string {
		return fmt.Sprintf(`[{"KV":{"Verb":"cas","Key":%q,"Value":%q,"Flags":%d,"Index":%s}}]`, key, value, flags, index)
	}
	txn := func(body string) step { return step{method: "PUT", path: "/v1/txn", body: body} }
	get := func(path string) step { return step{method: "GET", path: "/v1/kv/" + path} }
	saved := func(p step, name string) step { p.save = name; return p }
	as := func(p step, token string) step { p.token = token; return p }
	alike(t, sides[0], sides[1], []step{
		get("test/a?consistent"), get("test/?consistent"), get("test/?keys&consistent"), get("test/?recurse&consistent"),
		saved(txn(cas("test/a", "eA==", 7, "0")), "first"),
		txn(cas("test/a", "eA==", 7, "0")), txn(cas("test/a", "eA==", 7, "1")), txn(cas("test/b", "eA==", 7, "{first}")),
		saved(txn(cas("test/a", "eQ==", 8, "{first}")), "second"),
		txn(cas("test/a", "eQ==", 8, "{second}")), // the same again: no new index
		saved(txn(cas("test/a", "eQ==", 9, "{second}")), "third"),
		saved(txn(cas("test/a", "eQ==", 4503599627370495, "{third}")), "fourth"),
		saved(txn(cas("test/a", "", 1, "{fourth}")), "fifth"),
		get("test/a?consistent"), get("test/a?consistent&stale"),
		get("test/?keys&consistent"), get("test/?recurse&consistent"), get("test/?keys&separator=/&consistent"),
		get("test/?keys&index=1&wait=1s"), get("test/?keys&index={fifth}&wait=10ms"), get("test/?keys&index=x"),
		get("?keys&consistent"), get("?recurse&consistent"), get(""), get("other/a?consistent"), get("other/?consistent"), get("other/?recurse&consistent"), get("nothing/?keys"),
		txn(cas("other/a", "eA==", 1, "0")), txn(cas("nothing", "eA==", 1, "0")),
		as(txn(cas("test/a", "eA==", 1, "{fifth}")), reader), as(get("test/a?consistent"), reader),
		as(get("test/a"), "5f0e1c9a-1d3b-4c55-9a40-000000000001"), as(txn(cas("test/a", "eA==", 1, "{fifth}")), "5f0e1c9a-1d3b-4c55-9a40-000000000001"),
		get("test/a?dc=nowhere"), get("test/a?ns=a"), get("test/a?partition=a"),
		get("test/a,pjson"), txn("{}"), txn("nothing"), txn(`[{"KV":{"Verb":"cas","Key":"test/c","Value":"eA==","Namespace":"a"}}]`), txn(`[{"KV":{"Verb":"sing","Key":"test/c"}}]`),
		txn(cas("test/long", strings.Repeat("AAAA", 200<<10), 1, "0")),
		{method: "POST", path: "/v1/txn", body: "[]"}, {method: "GET", path: "/v1/nothing"},
		{method: "GET", path: "/v1/operator/raft/configuration"}, {method: "GET", path: "/v1/agent/self"},
	}, consulSummary)
}

// consulSummary returns the part of an answer that both servers of Consul have.
func consulSummary(s *side, p step, status int, header http.Header, body []byte) string {
	facts := []string{fmt.Sprint(status)}
	index := header.Get("X-Consul-Index")
	if index != "" {
		facts = append(facts, "has an index")
	}
	for _, name := range []string{"X-Consul-Effective-Consistency", "X-Consul-Results-Filtered-By-ACLs"} {
		if v := header.Get(name); v != "" {
			facts = append(facts, name+": "+v)
		}
	}
	type pair struct {
		Key         string
		Flags       uint64
		Value       *string
		ModifyIndex json.Number
		Session     string
	}
	show := func(v *pair) {
		name := s.seen(v.ModifyIndex.String())
		if p.save != "" {
			s.saved[p.save] = v.ModifyIndex.String()
		}
		value := "null"
		if v.Value != nil {
			value = *v.Value
		}
		facts = append(facts, fmt.Sprintf("%s=%s flags %d index %s %s", v.Key, value, v.Flags, name, v.Session))
	}
	var done struct {
		Results []struct{ KV *pair }
		Errors  []struct {
			OpIndex int
			What    string
		}
	}
	var pairs []*pair
	switch {
	case status == 200 && json.Unmarshal(body, &pairs) == nil:
		for _, v := range pairs {
			show(v)
		}
	case (status == 200 || status == 409) && json.Unmarshal(body, &done) == nil:
		for _, r := range done.Results {
			show(r.KV)
		}
		for _, e := range done.Errors {
			facts = append(facts, fmt.Sprintf("error %d: %s", e.OpIndex, general(e.What)))
		}
	default:
		facts = append(facts, general(string(body)))
	}
	return strings.Join(facts, "; ")
}

func TestKubernetesAlike(t *testing.T) {
	k := servertest.NewKubernetes(t)
	token, err := k.Account(t.Context(), "test")
	testkit.OK(t, err)
	reader, err := k.Account(t.Context(), "reader", "create", "update", "watch")
	testkit.OK(t, err)
	going, err := k.Account(t.Context(), "going")
	testkit.OK(t, err)
	testkit.OK(t, k.Do(t.Context(), "DELETE", "/api/v1/namespaces/going", "", "", nil))
	pretended := kubetest.New()
	verbs := []string{"get", "list", "create", "update", "watch"}
	pretended.Tokens = map[string][]string{token: verbs, going: verbs, k.Admin(): verbs, reader: {"get", "list"}}
	maps.Copy(pretended.Namespaces, map[string]string{"reader": "Active", "going": "Terminating"})
	pretended.SeeSpaces = false
	sides := []*side{
		{client: k.Client(), url: "https://" + k.Endpoint(), token: token, header: "Authorization"},
		{client: http.DefaultClient, url: pretended.Start(t).URL, token: token, header: "Authorization"},
	}
	const leases = "/apis/coordination.k8s.io/v1/namespaces/test/leases"
	object := func(namespace, name, metadata, value string) string {
		return fmt.Sprintf(`{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":%q,"namespace":%q%s,"annotations":{"firn.id/value":%q},"labels":{"a":"b"}},"spec":{}}`,
			name, namespace, metadata, value)
	}
	at := func(version string) string {
		return `,"uid":"{` + version + ` uid}","resourceVersion":"{` + version + `}"`
	}
	post := func(body string) step { return step{method: "POST", path: leases, body: body} }
	put := func(name, body string) step { return step{method: "PUT", path: leases + "/" + name, body: body} }
	get := func(path string) step { return step{method: "GET", path: leases + path} }
	saved := func(p step, name string) step { p.save = name; return p }
	as := func(p step, token, namespace string) step {
		p.token = token
		p.path, p.body = strings.Replace(p.path, "/test/", "/"+namespace+"/", 1), strings.Replace(p.body, `"namespace":"test"`, `"namespace":"`+namespace+`"`, 1)
		return p
	}
	const none = "5f0e1c9a-1d3b-4c55-9a40-000000000000"
	alike(t, sides[0], sides[1], []step{
		get("/a"), get(""),
		saved(post(object("test", "a", "", "x")), "first"),
		post(object("test", "a", "", "x")), post(object("test", "a", `,"resourceVersion":"7"`, "x")), post(object("test", "new", `,"resourceVersion":"7"`, "x")),
		saved(put("a", object("test", "a", at("first"), "y")), "second"),
		put("a", object("test", "a", at("first"), "z")),
		put("a", object("test", "a", at("second"), "y")), // the same again: no new version
		put("a", object("test", "a", `,"uid":"`+none+`","resourceVersion":"{second}"`, "z")),
		put("a", object("test", "a", `,"uid":"{second uid}"`, "z")),
		put("a", object("test", "a", `,"uid":"{second uid}","resourceVersion":"1"`, "z")),
		put("a", object("test", "a", `,"uid":"{second uid}","resourceVersion":"x"`, "z")),
		put("b", object("test", "b", at("second"), "z")), put("b", object("test", "b", `,"uid":"`+none+`"`, "z")), put("b", object("test", "b", `,"resourceVersion":"7"`, "z")),
		saved(put("b", object("test", "b", "", "z")), "made"), // by PUT
		put("a", object("test", "b", at("second"), "z")), put("a", object("elsewhere", "a", at("second"), "z")),
		get("/a"), get(""), get("?limit=1"), get("?limit=500"), get("?limit=1&continue=x"), get("?limit=1&resourceVersion=1&continue=x"), get("/b"), get("/c"),
		get("?resourceVersion=x"), get("?watch=true&resourceVersion=x&timeoutSeconds=1"),
		post(object("test", "A", "", "x")), post(object("test", "a_b", "", "x")), post(object("test", strings.Repeat("a", 254), "", "x")), post(object("test", "long", "", strings.Repeat("x", 256<<10))),
		post(strings.Replace(object("test", "c", "", "x"), `"a":"b"`, `"a":"`+strings.Repeat("b", 64)+`"`, 1)),
		post(strings.Replace(object("test", "c", "", "x"), "Lease", "Other", 1)), post("nothing"),
		{method: "POST", path: leases + "?dryRun=All", body: object("test", "dry", "", "x")}, get("/dry"),
		as(post(object("test", "a", "", "x")), reader, "reader"), as(put("a", object("test", "a", "", "x")), reader, "reader"), as(get("/a"), reader, "reader"), as(get("?watch=true&resourceVersion=1&timeoutSeconds=1"), reader, "reader"),
		as(post(object("test", "a", "", "x")), going, "going"), as(post(object("test", "a", "", "x")), k.Admin(), "nowhere"),
		as(put("a", object("test", "a", "", "x")), k.Admin(), "nowhere"), as(put("a", object("test", "a", `,"uid":"`+none+`"`, "x")), k.Admin(), "nowhere"),
		as(get("/a"), k.Admin(), "nowhere"), as(get(""), k.Admin(), "nowhere"),
		as(get("/a"), "nobody", "test"), as(post(object("test", "a", "", "x")), "nobody", "test"),
		{method: "POST", path: leases + "/a", body: "{}"}, {method: "GET", path: "/apis/nothing.k8s.io/v1"},
		{method: "GET", path: "/api/v1/namespaces/test"},
	}, kubernetesSummary)
}

// kubernetesSummary returns the part of an answer that both servers of Kubernetes have.
func kubernetesSummary(s *side, p step, status int, _ http.Header, body []byte) string {
	facts := []string{fmt.Sprint(status)}
	var o struct {
		kubetest.Object
		Items   []kubetest.Object
		Reason  string
		Message string
		Details struct {
			Kind, Name, Group string
			Causes            []struct{ Reason string }
		}
	}
	if err := json.Unmarshal(body, &o); err != nil {
		return strings.Join(append(facts, strings.TrimSpace(string(body))), "; ")
	}
	show := func(o kubetest.Object) {
		name := s.seen(o.Metadata.ResourceVersion)
		if p.save != "" {
			s.saved[p.save], s.saved[p.save+" uid"] = o.Metadata.ResourceVersion, o.Metadata.UID
		}
		annotations, _ := json.Marshal(o.Metadata.Annotations)
		facts = append(facts, fmt.Sprintf("%s %s %s/%s version %s uid %s %.100s", o.APIVersion, o.Kind, o.Metadata.Namespace, o.Metadata.Name, name, s.seen(o.Metadata.UID), annotations))
	}
	switch {
	case o.Kind == "Status":
		d := o.Details
		facts = append(facts, o.Reason, d.Kind, d.Name, d.Group, fmt.Sprint(d.Causes), general(o.Message))
	case strings.HasSuffix(o.Kind, "List"):
		facts = append(facts, o.Kind, o.APIVersion, fmt.Sprint(bytes.Contains(body, []byte(`"continue":"`))))
		slices.SortFunc(o.Items, func(a, b kubetest.Object) int { return strings.Compare(a.Metadata.Name, b.Metadata.Name) })
		for _, item := range o.Items {
			show(item)
		}
	default:
		show(o.Object)
	}
	return strings.Join(facts, "; ")
}
