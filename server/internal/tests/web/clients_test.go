package web

import (
	"encoding/binary"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/firn-id/firn/internal/testing/services"
	"github.com/firn-id/firn/server/internal/web"
)

// program returns the path of a program, or ends the test.
func program(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	services.Need(t, err, exec.ErrNotFound)
	return path
}

func TestCurl(t *testing.T) {
	curl := program(t, "curl")
	set := newSet(t)
	s := serve(t, web.Config{Set: set})
	run := func(arguments ...string) string {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), curl, append([]string{"-sS", "--max-time", "60"}, arguments...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("curl %q: %v\n%s", arguments, err, out)
		}
		return string(out)
	}
	ids := s.URL + "/v1/generators/order/ids"
	var answer struct {
		Generator, Format string
		IDs               []string
	}
	if err := json.Unmarshal([]byte(run(ids+"?n=1000")), &answer); err != nil || answer.Generator != "order" || answer.Format != "nanoflake" || len(answer.IDs) != 1000 {
		t.Errorf("%+v %v", answer, err)
	}
	if lines := strings.Fields(run("-H", "Accept: text/plain", ids+"?n=3")); len(lines) != 3 || len(lines[0]) != 13 {
		t.Errorf("%q", lines)
	}
	packed := run("-H", "Accept: application/octet-stream", ids+"?n=65536")
	if len(packed) != 8*65536 || binary.BigEndian.Uint64([]byte(packed)) == 0 {
		t.Errorf("%d bytes", len(packed))
	}
	for _, test := range []struct {
		want      string // status and reason
		arguments []string
	}{
		{"400 count", []string{ids + "?n=0"}},
		{"400 count", []string{ids + "?n=99999999999999999999"}},
		{"404 unknown", []string{s.URL + "/v1/generators/orders/ids"}},
		{"405 method", []string{"-d", "n=100", ids}},
		{"405 method", []string{"-d", "*1\r\n$4\r\nPING\r\n", ids}},
		{"405 method", []string{"-T", "-", ids}}, // PUT of nothing, in chunks
		{"400 request", []string{"-X", "GET", "-d", "n=100", ids}},
		{"200 ", []string{"-G", "-d", "n=100", ids}},
		{"421 host", []string{"-H", "Host: evil.example", ids}},
		{"404 path", []string{"--path-as-is", s.URL + "/v1/../v1/generators"}},
		{"404 path", []string{s.URL + "/v1/generators/"}},
		{"406 accept", []string{"-H", "Accept: text/html", ids}},
		{"403 origin", []string{"-H", "Origin: http://evil.example", ids}},
		{"200 ", []string{"-0", ids}},                  // HTTP/1.0
		{"200 ", []string{"-0", "-H", "Host:", ids}},   // without a host
		{"200 ", []string{"-0", ids + "?n=5000"}},      // an answer in pieces
		{"200 ", []string{"--compressed", ids}},        // accepts gzip
		{"400 ", []string{"-H", "Host:", ids}},         // HTTP/1.1 without a host, which net/http refuses
		{"405 method", []string{"-X", "OPTIONS", ids}}, // a preflight
	} {
		out := run(append([]string{"-w", "\n%{http_code}"}, test.arguments...)...)
		body, status, _ := cutLast(out, "\n")
		var refusal struct{ Error struct{ Reason string } }
		json.Unmarshal([]byte(body), &refusal)
		if got := status + " " + refusal.Error.Reason; got != test.want {
			t.Errorf("curl %q: %s, want %s: %.200s", test.arguments, got, test.want, body)
		}
	}
	if out := run("-I", ids); !strings.HasPrefix(out, "HTTP/1.1 405 ") || !strings.Contains(out, "Allow: GET\r\n") {
		t.Errorf("HEAD: %s", out)
	}
}

func cutLast(s, separator string) (before, after string, found bool) {
	if i := strings.LastIndex(s, separator); i >= 0 {
		return s[:i], s[i+len(separator):], true
	}
	return s, "", false
}

// script asks the server whose address is the first argument as Node's fetch does.
const script = `
const url = process.argv[1] + "/v1/generators/";
const fail = (text) => { throw new Error(text); };
const seen = new Set();
const note = (id) => seen.has(id) ? fail("twice: " + id) : seen.add(id);
const json = await (await fetch(url + "order/ids?n=1000")).json();
json.ids.forEach(note);
(await (await fetch(url + "order/ids?n=1000", { headers: { accept: "text/plain" } })).text()).trim().split("\n").forEach(note);
const ints = (await (await fetch(url + "order/ids?n=2&as=int")).json()).ids;
ints.forEach((i) => typeof i === "string" && BigInt(i) > 2n ** 53n || fail("no exact integer: " + i));
const answer = await fetch(url + "order/ids?n=5000", { headers: { accept: "application/octet-stream" } });
const view = new DataView(await answer.arrayBuffer());
const width = Number(answer.headers.get("firn-width")), count = Number(answer.headers.get("firn-count"));
if (answer.headers.get("firn-format") !== "nanoflake" || view.byteLength !== width * count || count !== 5000) fail("headers");
for (let i = 0; i < count; i++) note(view.getBigUint64(i * width));
for (const [path, options, status, reason] of [
  ["order/ids?n=-1", {}, 400, "count"],
  ["order/ids?N=1", {}, 400, "request"],
  ["nothing/ids", {}, 404, "unknown"],
  ["order/ids", { method: "POST", body: "n=1" }, 405, "method"],
  ["order/ids", { headers: { accept: "text/html" } }, 406, "accept"],
]) {
  const answer = await fetch(url + path, options);
  const body = await answer.json();
  if (answer.status !== status || body.error.reason !== reason) fail(path + ": " + answer.status + " " + JSON.stringify(body));
}
if ((await fetch(url + "order/ids", { method: "HEAD" })).status !== 405) fail("HEAD makes IDs");
console.log(seen.size);
`

func TestNodeFetch(t *testing.T) {
	node := program(t, "node")
	s := serve(t, web.Config{Set: newSet(t)})
	out, err := exec.CommandContext(t.Context(), node, "--input-type=module", "-e", script, s.URL).CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "7000" {
		t.Fatalf("%v\n%s", err, out)
	}
}
