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
	response := testkit.Must(s.client.Do(r))
	defer response.Body.Close()
	body := testkit.Must(io.ReadAll(response.Body))
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
	{regexp.MustCompile(`User "[^"]*"`), "User"},
	{regexp.MustCompile(`(Failed to parse body|Invalid value: "[^"]*"|unrecognized|cannot be handled as a Lease|\w+ in version|continue key is not valid).*`), "$1"},
}

func general(message string) string {
	for _, p := range particulars {
		message = p.of.ReplaceAllString(message, p.by)
	}
	return strings.TrimSpace(message)
}

func TestKubernetesAlike(t *testing.T) {
	k := servertest.NewKubernetes(t)
	token := testkit.Must(k.Account(t.Context(), "test"))
	reader := testkit.Must(k.Account(t.Context(), "reader", "create", "update", "watch"))
	going := testkit.Must(k.Account(t.Context(), "going"))
	testkit.OK(t, k.Do(t.Context(), "DELETE", "/api/v1/namespaces/going", "", "", nil))
	pretended := kubetest.New()
	verbs := []string{"get", "list", "create", "update", "watch"}
	pretended.Tokens = map[string][]string{token: verbs, going: verbs, k.Admin(): verbs, reader: {"get", "list"}}
	maps.Copy(pretended.Namespaces, map[string]string{"reader": "Active", "going": "Terminating"})
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
