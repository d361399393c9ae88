package web

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/inspect"
	"github.com/firn-id/firn/internal/shape"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/server/internal/access"
	"github.com/firn-id/firn/server/internal/reason"
	"github.com/firn-id/firn/server/internal/supply"
	"github.com/firn-id/firn/server/internal/supply/supplytest"
)

// newSet returns a generator for each format by its name, and the generator order of nanoflakes with an epoch of its own.
func newSet(t testing.TB) *supply.Set {
	all := supplytest.Formats(2)
	order := all[0]
	order.Name, order.Workers, order.Recipe.Epoch = "order", 16, time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	return supplytest.New(t, supply.Config{Generators: append(all, order), Wait: time.Minute})
}

// newBroken returns the generator broken, whose store does not open, the generator past, whose timestamps have ended,
// and the generator whole.
func newBroken(t *testing.T) *supply.Set {
	t.Helper()
	f, _ := inspect.Lookup("nanoflake")
	var ended atomic.Bool
	clock := func() time.Time {
		if ended.Load() {
			return time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC)
		}
		return time.Now()
	}
	set := supplytest.New(t, supply.Config{Wait: time.Millisecond, Generators: []supply.Generator{
		{Name: "whole", Format: f},
		{Name: "past", Format: f, Recipe: shape.Recipe{Clock: clock}},
		supplytest.Down("broken", "the store with the secret is down"),
	}})
	ended.Store(true)
	return set
}

// get asks a handler. Each change changes the request.
func get(h http.Handler, target string, changes ...func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", target, nil)
	r.Host = "127.0.0.1:7433"
	for _, change := range changes {
		change(r)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func with(name string, values ...string) func(*http.Request) {
	return func(r *http.Request) { r.Header[name] = values }
}

func method(name string) func(*http.Request) { return func(r *http.Request) { r.Method = name } }

func host(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }

func body(text string) func(*http.Request) {
	return func(r *http.Request) {
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
	}
}

// refused checks that an answer has a reason, in the form of the table.
func refused(t *testing.T, w *httptest.ResponseRecorder, of *reason.Reason) {
	t.Helper()
	var answer struct{ Error errorObject }
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		t.Errorf("%d %q: %v", w.Code, w.Body, err)
		return
	}
	retry := ""
	if of.Retry > 0 {
		retry = strconv.Itoa(int((of.Retry + time.Second - 1) / time.Second))
	}
	if w.Code != of.HTTP || answer.Error.Reason != of.Name || answer.Error.Message == "" || w.Header().Get("Retry-After") != retry {
		t.Errorf("%d %s, Retry-After %q; want %d %s", w.Code, w.Body, w.Header().Get("Retry-After"), of.HTTP, of.Name)
	}
	if w.Header().Get("Content-Type") != "application/json" || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("%v", w.Header())
	}
}

type idsAnswer struct {
	Generator, Format string
	IDs               []string
}

func TestIDs(t *testing.T) {
	set := newSet(t)
	h := New(Config{Set: set})
	for _, g := range set.All() {
		seen := map[string]bool{}
		path := "/v1/generators/" + g.Name + "/ids"
		count := 0
		note := func(text string) {
			t.Helper()
			info, err := g.Read(text)
			if err != nil || seen[info.ID] {
				t.Fatalf("%s: %q, again: %t, %v", g.Name, text, seen[info.ID], err)
			}
			seen[info.ID] = true
			count++
		}
		as := []string{"", "&as=text", "&as=hex"}
		if g.Integer() {
			as = append(as, "&as=int")
		}
		for _, as := range as {
			for _, n := range []int{1, 2, 100, supply.MaxRun, supply.MaxRun + 1} {
				w := get(h, fmt.Sprintf("%s?n=%d%s", path, n, as))
				var answer idsAnswer
				if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code != 200 || len(answer.IDs) != n {
					t.Fatalf("%s: %d %.100s: %v", g.Name, w.Code, w.Body, err)
				}
				if answer.Generator != g.Name || answer.Format != g.Format.Name() || w.Header().Get("Content-Type") != "application/json" || w.Header().Get("Cache-Control") != "no-store" {
					t.Errorf("%v %v", answer.Generator, w.Header())
				}
				for _, id := range answer.IDs {
					note(id)
				}
				w = get(h, fmt.Sprintf("%s?n=%d%s", path, n, as), with("Accept", "text/plain"))
				lines := strings.Split(w.Body.String(), "\n")
				if len(lines) != n+1 || lines[n] != "" || w.Header().Get("Content-Type") != "text/plain; charset=utf-8" {
					t.Fatalf("%s: %d lines, %v", g.Name, len(lines), w.Header())
				}
				for _, id := range lines[:n] {
					note(id)
				}
			}
		}
		for _, n := range []int{1, supply.MaxRun, supply.MaxRun + 1} {
			w := get(h, fmt.Sprintf("%s?n=%d", path, n), with("Accept", "application/octet-stream"))
			want := map[string]string{"Content-Type": "application/octet-stream", "Firn-Format": g.Format.Name(), "Firn-Generator": g.Name,
				"Firn-Width": strconv.Itoa(g.Size), "Firn-Count": strconv.Itoa(n), "Firn-Byte-Order": "big-endian", "Content-Length": strconv.Itoa(n * g.Size)}
			for name, value := range want {
				if w.Header().Get(name) != value {
					t.Errorf("%s: %q, want %q", name, w.Header().Get(name), value)
				}
			}
			for ids := w.Body.Bytes(); len(ids) > 0; ids = ids[g.Size:] {
				text, err := g.Format.Descriptor().Writer()(nil, ids[:g.Size])
				testkit.OK(t, err)
				note(string(text))
			}
		}
		// A request without a number gets 1 ID.
		var answer idsAnswer
		if json.Unmarshal(get(h, path).Body.Bytes(), &answer); len(answer.IDs) != 1 {
			t.Errorf("%d IDs without a number", len(answer.IDs))
		}
	}
}

// Requests at the same time share buffers, and no two of them get the same ID.
func TestConcurrent(t *testing.T) {
	set := newSet(t)
	h := New(Config{Set: set})
	source, _ := set.Find("order")
	var mu sync.Mutex
	seen := map[string]bool{}
	var running sync.WaitGroup
	for worker := range 8 {
		running.Go(func() {
			for i := range 20 {
				n := []int{1, 50, 5000}[(worker+i)%3]
				w := get(h, fmt.Sprintf("/v1/generators/order/ids?n=%d&as=%s", n, []string{"text", "hex"}[i%2]))
				var answer idsAnswer
				if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || len(answer.IDs) != n {
					t.Errorf("%d %.100s", w.Code, w.Body)
					return
				}
				mu.Lock()
				for _, id := range answer.IDs {
					info, err := source.Read(id)
					if err != nil || seen[info.Hex] {
						t.Errorf("%s again: %t, %v", id, seen[info.Hex], err)
					}
					seen[info.Hex] = true
				}
				mu.Unlock()
			}
		})
	}
	running.Wait()
}

// The forms of an ID are forms of the same ID.
func TestForms(t *testing.T) {
	h := New(Config{Set: newSet(t)})
	w := get(h, "/v1/generators/order/ids?as=int", with("Accept", "text/plain"))
	v, err := strconv.ParseUint(strings.TrimSpace(w.Body.String()), 10, 64)
	testkit.OK(t, err)
	w = get(h, "/v1/inspect/"+strconv.FormatUint(v, 10)+"?generator=order")
	var info struct{ Int, Hex, Format string }
	if json.Unmarshal(w.Body.Bytes(), &info); info.Int != strconv.FormatUint(v, 10) || info.Hex != fmt.Sprintf("%016x", v) {
		t.Errorf("%s", w.Body)
	}
	w = get(h, "/v1/generators/order/ids", with("Accept", "application/octet-stream"))
	if next := binary.BigEndian.Uint64(w.Body.Bytes()); next <= v {
		t.Logf("%d after %d: another worker", next, v) // workers of a generator are not ordered
	}
	for _, accept := range []string{"application/json", "text/plain"} {
		refused(t, get(h, "/v1/generators/scru160/ids?as=int", with("Accept", "application/json")), reason.Form)
		if w := get(h, "/v1/generators/scru160/ids?as=hex", with("Accept", accept)); w.Code != 200 {
			t.Errorf("%s", w.Body)
		}
	}
	refused(t, get(h, "/v1/generators/order/ids?as=int", with("Accept", "application/octet-stream, application/json;q=0.1")), reason.Form)
}

func TestBadRequests(t *testing.T) {
	set := newSet(t)
	h := New(Config{Set: set, Hosts: []string{"IDs.example.com"}})
	const ids = "/v1/generators/order/ids"
	made := func() (n uint64) {
		for _, g := range set.All() {
			n += objectOf(g).IDs
		}
		return n
	}
	get(h, ids)
	before := made()
	for _, test := range []struct {
		target string
		of     *reason.Reason
		names  string // what the message names
		change func(*http.Request)
	}{
		{ids + "?n=0", reason.Count, `"0"`, nil},
		{ids + "?n=-1", reason.Count, `"-1"`, nil},
		{ids + "?n=65537", reason.Count, "65536", nil},
		{ids + "?n=4294967297", reason.Count, "65536", nil}, // 1 in 32 bits
		{ids + "?n=18446744073709551617", reason.Count, "65536", nil},
		{ids + "?n=" + strings.Repeat("9", 1000), reason.Count, "65536", nil},
		{ids + "?n=ten", reason.Count, `"ten"`, nil},
		{ids + "?n=1.5", reason.Count, `"1.5"`, nil},
		{ids + "?n=1e3", reason.Count, `"1e3"`, nil},
		{ids + "?n=0x10", reason.Count, `"0x10"`, nil},
		{ids + "?n=1_000", reason.Count, `"1_000"`, nil},
		{ids + "?n=+5", reason.Count, `" 5"`, nil},
		{ids + "?n=%D9%A3", reason.Count, "1 to 65536", nil}, // a digit of another script
		{ids + "?n=", reason.Count, `""`, nil},
		{ids + "?n", reason.Count, `""`, nil},
		{ids + "?n=1&n=2", reason.Count, "2 times", nil},
		{ids + "?n=1&n=1", reason.Count, "2 times", nil},
		{ids + "?m=100", reason.Request, `"m"`, nil},
		{ids + "?N=100", reason.Request, `"N"`, nil},
		{ids + "?count=100&n=1", reason.Request, `"count"`, nil},
		{ids + "?=100", reason.Request, `""`, nil},
		{ids + "?n=1;n=2", reason.Request, "semicolon", nil},
		{ids + "?n=%zz", reason.Request, "%zz", nil},
		{ids + "?as=octal", reason.Request, `"octal"`, nil},
		{ids + "?as=int&as=hex", reason.Request, "2 times", nil},
		{ids + "?" + strings.Repeat("a", Longest), reason.Request, "2048", nil},
		{ids, reason.Request, "body", body("n=100")},
		{"/v1/generators/" + strings.Repeat("a", Longest) + "/ids", reason.Request, "2048", nil},
		{"/v1/generators/orders/ids", reason.Unknown, "order", nil},
		{"/v1/generators/ORDER/ids", reason.Unknown, "order", nil},
		{"/v1/generators/order%2Fids/ids", reason.Unknown, "order/ids", nil},
		{"/v1/generators/%0A/ids", reason.Unknown, `\n`, nil},
		{"/v1/generators/orders", reason.Unknown, "order", nil},
		{"/v1/generators/order?n=2", reason.Request, `"n"`, nil},
		{"/v1/generators?name=order", reason.Request, `"name"`, nil},
		{"/v1/generators/order/ids/", reason.NoPath, "/openapi.json", nil},
		{"/v1/generators//ids", reason.NoPath, "", nil},
		{"/v1//generators", reason.NoPath, "", nil},
		{"/v1/./generators", reason.NoPath, "", nil},
		{"/v1/x/../generators", reason.NoPath, "", nil},
		{"/v1/generators/", reason.NoPath, "", nil},
		{"/v1/generators/order/.", reason.NoPath, "", nil},
		{"/v1/generators/order/..", reason.NoPath, "", nil},
		{"/v1/generators/.order", reason.Unknown, ".order", nil},
		{"/v1/generators/%2e%2e/ids", reason.Unknown, "..", nil},
		{"/v2/generators", reason.NoPath, "", nil},
		{"/page/index.html", reason.NoPath, "", nil},
		{"/metrics", reason.NoPath, "", nil}, // without Metrics
		{ids, reason.Method, "POST", method("POST")},
		{ids + "?n=0", reason.Method, "POST", method("POST")},
		{ids, reason.Method, "POST", func(r *http.Request) { method("POST")(r); body("*1\r\n$4\r\nPING\r\n")(r) }},
		{ids, reason.Method, "HEAD", method("HEAD")},
		{ids, reason.Method, "PUT", method("PUT")},
		{ids, reason.Method, "OPTIONS", method("OPTIONS")},
		{ids, reason.Method, "get", method("get")},
		{"/v1/generators", reason.Method, "DELETE", method("DELETE")},
		{"/v1/inspect/1", reason.Method, "PATCH", method("PATCH")},
		{"/", reason.Method, "POST", method("POST")},
		{"/healthz", reason.Method, "POST", method("POST")},
		{"/v1/inspect/nonsense!", reason.ID, "nonsense!", nil},
		{"/v1/inspect/" + strings.Repeat("0", 101), reason.ID, "101", nil},
		{"/v1/inspect/%00", reason.ID, `\x00`, nil},
		{"/v1/inspect/1?generator=orders", reason.Unknown, "orders", nil},
		{"/v1/inspect/!?generator=order", reason.ID, "", nil},
		{"/v1/inspect/1?generators=order", reason.Request, `"generators"`, nil},
		{ids, reason.Accept, "application/octet-stream", with("Accept", "text/html")},
		{ids, reason.Accept, "application/octet-stream", with("Accept", "application/json;q=0")},
		{ids, reason.Accept, "application/octet-stream", with("Accept", "nonsense")},
		{"/v1/generators", reason.Accept, "application/json", with("Accept", "application/octet-stream")},
		{ids, reason.Host, "evil.example", host("evil.example")},
		{ids, reason.Host, `"evil.example": use`, host("evil.example:7433")},
		{"/", reason.Host, "localhost.evil.example", host("localhost.evil.example")},
		{"/healthz", reason.Host, "127.0.0.1.evil.example", host("127.0.0.1.evil.example")},
		{"/nothing", reason.Host, "1.example", host("1.example")},
		{ids, reason.Origin, "another site", with("Sec-Fetch-Site", "cross-site")},
		{ids, reason.Origin, "another site", with("Sec-Fetch-Site", "same-site")},
		{ids, reason.Origin, "another site", with("Sec-Fetch-Site", "none", "same-origin")},
		{"/v1/generators", reason.Origin, "another site", with("Sec-Fetch-Site", "cross-site")},
		{ids, reason.Origin, "evil.example", with("Origin", "http://evil.example")},
		{ids, reason.Origin, "null", with("Origin", "null")},
		{ids, reason.Origin, "127.0.0.1:1", with("Origin", "http://127.0.0.1:1")},
	} {
		change := test.change
		if change == nil {
			change = func(*http.Request) {}
		}
		w := get(h, test.target, change)
		refused(t, w, test.of)
		var answer struct{ Error errorObject }
		json.Unmarshal(w.Body.Bytes(), &answer)
		if !strings.Contains(answer.Error.Message, test.names) || t.Failed() {
			t.Errorf("GET %.100s: %s does not name %s", test.target, w.Body, test.names)
		}
		if allow := w.Header().Get("Allow"); (test.of == reason.Method) != (allow == "GET" || allow == "GET, HEAD") {
			t.Errorf("GET %.100s: Allow %q", test.target, allow)
		}
		if t.Failed() {
			return
		}
	}
	if after := made(); after != before {
		t.Errorf("refused requests made %d IDs", after-before)
	}
}

func TestHosts(t *testing.T) {
	h := New(Config{Set: newSet(t), Hosts: []string{"IDs.example.com"}})
	for _, name := range []string{"", "127.0.0.1", "127.0.0.1:7433", "10.1.2.3:80", "[::1]", "[::1]:7433", "[fe80::1%25eth0]:1",
		"localhost", "LocalHost:7433", "localhost.", "ids.example.com", "IDS.EXAMPLE.COM:443", "ids.example.com."} {
		if w := get(h, "/healthz", host(name)); w.Code != 200 {
			t.Errorf("%q: %d %s", name, w.Code, w.Body)
		}
	}
	for _, change := range []func(*http.Request){
		with("Sec-Fetch-Site", "same-origin"), with("Sec-Fetch-Site", "none"),
		with("Origin", "http://127.0.0.1:7433"), with("Origin", "https://127.0.0.1:7433"),
	} {
		if w := get(h, "/v1/generators/order/ids", change); w.Code != 200 {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
}

// The description has the paths of the server, and the table's reasons.
func TestDescription(t *testing.T) {
	s := New(Config{Set: newSet(t), Metrics: http.NotFoundHandler()}).(*server)
	var doc struct {
		Paths      map[string]any
		Components struct {
			Schemas struct {
				Fault struct {
					Properties struct{ Reason struct{ Enum []string } }
				}
			}
		}
	}
	b, _ := files.ReadFile("openapi.json")
	testkit.OK(t, json.Unmarshal(b, &doc))
	served := s.routes()
	served[idsPath] = nil
	for _, pattern := range []string{"/page.css", "/page.js", "/icon.svg"} { // of the page
		delete(served, pattern)
	}
	for pattern := range served {
		path := strings.TrimSuffix(pattern, "{$}")
		if doc.Paths[path] == nil {
			t.Errorf("the description lacks %s", path)
		}
		delete(doc.Paths, path)
	}
	for path := range doc.Paths {
		t.Errorf("the server lacks %s", path)
	}
	var names []string
	for _, of := range reason.All() {
		names = append(names, of.Name)
	}
	if !slices.Equal(doc.Components.Schemas.Fault.Properties.Reason.Enum, names) {
		t.Errorf("the reasons are\n%q, want\n%q", doc.Components.Schemas.Fault.Properties.Reason.Enum, names)
	}
}

func TestTokens(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens.toml")
	const all, limited, blind = "token-that-may-do-all", "token-with-a-limit", "token-that-may-not-read"
	text := fmt.Sprintf("[tokens]\nall = {token = %q}\nlimited = {token = %q, generators = [\"order\"], rate = 1}\nblind = {token = %q, read = false}\n", all, limited, blind)
	testkit.OK(t, os.WriteFile(path, []byte(text), 0o600))
	tokens, err := access.New(access.Config{Path: path, Burst: 100, Log: slog.New(slog.DiscardHandler)})
	testkit.OK(t, err)
	set := newSet(t)
	h := New(Config{Set: set, Access: tokens, Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "firn 1\n") })})
	const ids = "/v1/generators/order/ids"
	for _, target := range []string{ids, "/v1/generators", "/v1/generators/order", "/v1/inspect/1", "/metrics", "/v1/generators/nothing/ids", ids + "?n=0"} {
		refused(t, get(h, target), reason.Token)
		for _, header := range []string{"", "Bearer", "Bearer ", "Basic Zmlybjp0b2tlbi10aGF0LW1heS1kby1hbGw=", all} {
			refused(t, get(h, target, with("Authorization", header)), reason.Token)
		}
		refused(t, get(h, target, with("Authorization", "Bearer "+all, "Bearer "+all)), reason.Token)
		refused(t, get(h, target, with("Authorization", "Bearer "+all+"x")), reason.WrongToken)
		refused(t, get(h, target, with("Authorization", "Bearer "+strings.Repeat("x", 100_000))), reason.WrongToken)
	}
	for _, target := range []string{"/", "/page.js", "/openapi.json", "/healthz", "/readyz"} {
		if w := get(h, target); w.Code != 200 {
			t.Errorf("%s: %d", target, w.Code)
		}
	}
	as := func(token string) func(*http.Request) { return with("Authorization", "Bearer "+token) }
	for _, target := range []string{ids, "/v1/generators/sno/ids", "/v1/generators", "/v1/generators/order", "/v1/inspect/1", "/metrics"} {
		for _, scheme := range []string{"Bearer ", "bearer ", "BEARER  "} {
			if w := get(h, target, with("Authorization", scheme+all)); w.Code != 200 {
				t.Errorf("%s: %d %s", target, w.Code, w.Body)
			}
		}
	}
	for _, target := range []string{"/v1/generators", "/v1/generators/order", "/v1/inspect/1", "/metrics"} {
		refused(t, get(h, target, as(blind)), reason.Permission)
	}
	if w := get(h, ids, as(blind)); w.Code != 200 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	w := get(h, "/v1/generators/nothing/ids", as(blind))
	refused(t, w, reason.Unknown)
	if !strings.Contains(w.Body.String(), `"no generator \"nothing\""`) {
		t.Errorf("a token that may not read sees %s", w.Body)
	}
	down := New(Config{Set: newBroken(t), Access: tokens})
	const broken = "/v1/generators/broken/ids"
	for began := time.Now(); !strings.Contains(get(down, broken, as(all)).Body.String(), "secret"); {
		if time.Since(began) > time.Minute { // the store opens in another goroutine
			t.Fatal("a token that may read does not see the error of the store")
		}
	}
	w = get(down, broken, as(blind))
	refused(t, w, reason.Starting)
	if !strings.Contains(w.Body.String(), `"`+reason.Starting.Means+`"`) || strings.Contains(w.Body.String(), "secret") {
		t.Errorf("a token that may not read sees %s", w.Body)
	}
	refused(t, get(h, "/v1/generators/sno/ids", as(limited)), reason.Permission)
	refused(t, get(h, "/v1/generators/sno/ids?as=int", as(limited)), reason.Permission) // and not form
	refused(t, get(h, "/v1/generators/order/ids?n=0", as(limited)), reason.Count)
	if w := get(h, ids+"?n=100", as(limited)); w.Code != 200 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	source, _ := set.Find("order")
	before := objectOf(source).IDs
	w = get(h, ids+"?n=100", as(limited))
	if seconds, err := strconv.Atoi(w.Header().Get("Retry-After")); w.Code != 429 || err != nil || seconds < 1 || seconds > 100 || objectOf(source).IDs != before {
		t.Errorf("%d %s, Retry-After %v", w.Code, w.Body, w.Header())
	}
}

// No answer lets a page of another site read it.
func TestNoCORS(t *testing.T) {
	h := New(Config{Set: newSet(t)})
	for _, target := range []string{"/", "/v1/generators", "/v1/generators/order/ids", "/openapi.json", "/nothing"} {
		for _, m := range []string{"GET", "OPTIONS"} {
			w := get(h, target, method(m), with("Origin", "http://evil.example"), with("Access-Control-Request-Method", "GET"))
			for name := range w.Header() {
				if strings.HasPrefix(name, "Access-Control") {
					t.Errorf("%s %s: %s", m, target, name)
				}
			}
		}
	}
}

func TestAccept(t *testing.T) {
	const refusal = -1
	for _, test := range []struct {
		accept []string
		want   media
	}{
		{nil, asJSON},
		{[]string{""}, refusal},
		{[]string{"*/*"}, asJSON},
		{[]string{"application/json"}, asJSON},
		{[]string{"APPLICATION/JSON"}, asJSON},
		{[]string{"application/*"}, asJSON},
		{[]string{"text/plain"}, asText},
		{[]string{"text/*"}, asText},
		{[]string{"text/plain; charset=utf-8"}, asText},
		{[]string{"application/octet-stream"}, asPacked},
		{[]string{"text/html, text/plain;q=0.5"}, asText},
		{[]string{"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}, asJSON},
		{[]string{"application/json;q=0.5, text/plain"}, asText},
		{[]string{"application/json;q=0.5", "text/plain"}, asText},
		{[]string{"text/plain, application/json"}, asJSON},
		{[]string{"*/*, application/json;q=0"}, asText},
		{[]string{"*/*;q=0.1, application/octet-stream;q=0.2"}, asPacked},
		{[]string{"application/*;q=0.9, application/json;q=0.1, text/plain;q=0.5"}, asPacked},
		{[]string{"application/json;q=nonsense, text/plain;q=0.1"}, asText},
		{[]string{"application/json;q=7, text/plain;q=0.1"}, asText},
		{[]string{"application/json;q=NaN, text/plain;q=0.1"}, asText},
		{[]string{"*/*;q=0"}, refusal},
		{[]string{"image/png"}, refusal},
		{[]string{"application"}, refusal},
		{[]string{strings.Repeat("a,", 10_000)}, refusal},
	} {
		m, err := choose(http.Header{"Accept": test.accept}, asPacked)
		if err != nil {
			m = refusal
		}
		if m != test.want {
			t.Errorf("%.100q: %d, want %d", test.accept, m, test.want)
		}
		if err != nil && reason.Of(err).Of != reason.Accept {
			t.Error(err)
		}
	}
}

// Each reason of the table has an answer in JSON and in text.
func TestReasons(t *testing.T) {
	s := New(Config{Set: newSet(t)}).(*server)
	for _, of := range reason.All() {
		w := httptest.NewRecorder()
		s.refuse(w, httptest.NewRequest("GET", "/", nil), fmt.Errorf("wrapped: %w", of.New("what has\nhappened")))
		refused(t, w, of)
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Accept", "text/plain")
		w = httptest.NewRecorder()
		s.refuse(w, r, of.New("what has\r\nhappened"))
		if want := of.Name + ": what has happened\n"; w.Body.String() != want || w.Code != of.HTTP || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain") {
			t.Errorf("%d %q, want %q", w.Code, w.Body, want)
		}
		if challenge := w.Header().Get("WWW-Authenticate"); (of.HTTP == 401) != strings.HasPrefix(challenge, "Bearer ") {
			t.Errorf("%s: WWW-Authenticate %q", of.Name, challenge)
		}
	}
	e := reason.Clock.Because(&iderr.ClockError{})
	e.Retry = 2500 * time.Millisecond
	w := httptest.NewRecorder()
	s.refuse(w, httptest.NewRequest("GET", "/", nil), e)
	if w.Header().Get("Retry-After") != "3" || !strings.Contains(w.Body.String(), `"retry_ms":2500`) {
		t.Errorf("%v %s", w.Header(), w.Body)
	}
	w = httptest.NewRecorder()
	s.refuse(w, httptest.NewRequest("GET", "/", nil), errors.New("no reason"))
	refused(t, w, reason.Internal)
}

// A client that has gone gets no answer, and above all no empty answer with status 200.
func TestGone(t *testing.T) {
	h := New(Config{Set: newBroken(t)})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	defer func() {
		if e := recover(); e != http.ErrAbortHandler {
			t.Errorf("recovered %v", e)
		}
	}()
	get(h, "/v1/generators/broken/ids", func(r *http.Request) { *r = *r.WithContext(ctx) })
	t.Error("the handler returned")
}

func TestLook(t *testing.T) {
	h := New(Config{Set: newSet(t)})
	get(h, "/v1/generators/order/ids?n=10")
	var answer struct {
		Time       time.Time
		Generators []generatorObject
	}
	w := get(h, "/v1/generators")
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || answer.Time.IsZero() {
		t.Fatalf("%s: %v", w.Body, err)
	}
	if len(answer.Generators) != len(inspect.Formats())+1 {
		t.Errorf("%d generators", len(answer.Generators))
	}
	for _, g := range answer.Generators {
		var one generatorObject
		if err := json.Unmarshal(get(h, "/v1/generators/"+g.Name).Body.Bytes(), &one); err != nil || one.Name != g.Name || one.PerSecond != g.PerSecond || g.PerSecond < 1000 {
			t.Errorf("%+v %v", one, err)
		}
		if g.Name != "order" {
			continue
		}
		if !g.Ready || len(g.Workers) != 16 || g.IDs < 10 || g.Format != "nanoflake" || g.Epoch.Year() != 2025 || g.End == nil || g.End.Year() < 2025 {
			t.Errorf("%+v", g)
		}
		ready := 0
		for _, w := range g.Workers {
			if w.State == supply.Ready && w.Number != nil && *w.Left > 0 && w.Until.After(time.Now()) {
				ready++
			}
		}
		if ready == 0 {
			t.Errorf("%+v", g.Workers)
		}
	}
	if w := get(h, "/v1/generators", method("HEAD")); w.Code != 200 {
		t.Errorf("HEAD: %d", w.Code)
	}
	h = New(Config{Set: newBroken(t)})
	refused(t, get(h, "/v1/generators/broken/ids"), reason.Starting)
	var broken generatorObject
	json.Unmarshal(get(h, "/v1/generators/broken").Body.Bytes(), &broken)
	if broken.Ready || broken.Error == nil || broken.Error.Reason != "starting" || broken.Workers[0].State != supply.Starting || broken.Workers[0].Error == "" {
		t.Errorf("%+v", broken)
	}
}

func TestInspect(t *testing.T) {
	set := newSet(t)
	h := New(Config{Set: set})
	type object struct {
		Format, ID, Int, Hex string
		Unix                 int64 `json:"unix_ms"`
		Fields               map[string]any
		Layout               []struct {
			Name string
			Bits int
		}
		Generators []string
		Input      string
		Candidates []object
	}
	for _, g := range set.All() {
		var made idsAnswer
		json.Unmarshal(get(h, "/v1/generators/"+g.Name+"/ids").Body.Bytes(), &made)
		w := get(h, "/v1/inspect/"+made.IDs[0]+"?generator="+g.Name)
		var o object
		if err := json.Unmarshal(w.Body.Bytes(), &o); err != nil {
			t.Fatalf("%s: %v", w.Body, err)
		}
		if o.ID != made.IDs[0] || o.Format != g.Format.Name() || len(o.Fields) != len(o.Layout) || time.Since(time.UnixMilli(o.Unix)).Abs() > time.Hour || o.Generators[0] != g.Name {
			t.Errorf("%s", w.Body)
		}
		// The object begins as that of the command firn inspect --json.
		info, _ := g.Read(made.IDs[0])
		want, _ := info.Info.MarshalJSON()
		if !bytes.HasPrefix(w.Body.Bytes(), want[:len(want)-1]) {
			t.Errorf("%s does not begin as %s", w.Body, want)
		}
		o = object{}
		w = get(h, "/v1/inspect/"+made.IDs[0])
		json.Unmarshal(w.Body.Bytes(), &o)
		if o.Candidates != nil {
			if o.Input != made.IDs[0] || len(o.Candidates) < 2 {
				t.Errorf("%s", w.Body)
			}
		} else {
			o.Candidates = []object{o}
		}
		if !slices.ContainsFunc(o.Candidates, func(o object) bool {
			return o.Format == g.Format.Name() && o.ID == made.IDs[0] && slices.Contains(o.Generators, g.Name)
		}) {
			t.Errorf("%s: %s", g.Name, w.Body)
		}
	}
}

func TestReady(t *testing.T) {
	draining := false
	h := New(Config{Set: newSet(t), Draining: func() bool { return draining }})
	for _, path := range []string{"/healthz", "/readyz"} {
		if w := get(h, path); w.Code != 200 || w.Body.String() != "ok\n" || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	draining = true
	refused(t, get(h, "/readyz"), reason.Draining)
	if w := get(h, "/healthz"); w.Code != 200 {
		t.Errorf("%d %s", w.Code, w.Body)
	}

	h = New(Config{Set: newBroken(t)})
	refused(t, get(h, "/v1/generators/broken/ids"), reason.Starting)
	refused(t, get(h, "/v1/generators/past/ids"), reason.Lifetime)
	w := get(h, "/readyz")
	refused(t, w, reason.Starting)
	if !strings.Contains(w.Body.String(), "generator broken: starting") || strings.Contains(w.Body.String(), "secret") {
		t.Errorf("%s", w.Body)
	}
}

func TestMetrics(t *testing.T) {
	h := New(Config{Set: newSet(t), Metrics: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "firn 1\n") })})
	if w := get(h, "/metrics"); w.Code != 200 || w.Body.String() != "firn 1\n" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	refused(t, get(h, "/metrics", method("POST")), reason.Method)
}

// As many large answers as the memory allows are under way; the next request waits, and gets a reason.
func TestLarge(t *testing.T) {
	h := New(Config{Set: newSet(t)})
	s := h.(*server)
	for range cap(s.large) {
		s.large <- struct{}{}
	}
	if w := get(h, "/v1/generators/order/ids?n=4096"); w.Code != 200 {
		t.Errorf("%d %.100s", w.Code, w.Body)
	}
	refused(t, get(h, "/v1/generators/order/ids?n=4097"), reason.Busy)
	<-s.large
	if w := get(h, "/v1/generators/order/ids?n=4097"); w.Code != 200 {
		t.Errorf("%d %.100s", w.Code, w.Body)
	}
}

// Requests of HTTP/1.0 and requests without a host, by sockets: a recorder has neither.
func TestOldHTTP(t *testing.T) {
	s := httptest.NewServer(New(Config{Set: newSet(t)}))
	defer s.Close()
	for request, want := range map[string]int{
		"GET /v1/generators/order/ids HTTP/1.0\r\nHost: localhost\r\n\r\n":                                        200,
		"GET /v1/generators/order/ids HTTP/1.0\r\n\r\n":                                                           200,
		"GET /v1/generators/order/ids?n=5000 HTTP/1.0\r\n\r\n":                                                    200,
		"GET /v1/generators/order/ids HTTP/1.1\r\n\r\n":                                                           400,
		"GET /v1/../v1/generators HTTP/1.1\r\nHost: localhost\r\n\r\n":                                            404,
		"HEAD /v1/generators/order/ids HTTP/1.1\r\nHost: localhost\r\n\r\n":                                       405,
		"PUT /v1/generators/order/ids HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n": 405,
	} {
		c, err := net.Dial("tcp", s.Listener.Addr().String())
		testkit.OK(t, err)
		testkit.OK(t, testkit.Err(io.WriteString(c, request)))
		method, _, _ := strings.Cut(request, " ")
		answer, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: method})
		testkit.OK(t, err)
		body, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != want || strings.Contains(request, "n=5000") && strings.Count(string(body), ",") < 5000 {
			t.Errorf("%q: %s, %d bytes, %v", request, answer.Status, len(body), err)
		}
		c.Close()
	}
}

func TestPage(t *testing.T) {
	h := New(Config{Set: newSet(t)})
	for path, mediaType := range map[string]string{"/": "text/html; charset=utf-8", "/page.css": "text/css; charset=utf-8",
		"/page.js": "text/javascript; charset=utf-8", "/icon.svg": "image/svg+xml", "/openapi.json": "application/json"} {
		w := get(h, path, with("Sec-Fetch-Site", "cross-site")) // a link of another site
		csp := w.Header().Get("Content-Security-Policy")
		if w.Code != 200 || w.Header().Get("Content-Type") != mediaType || w.Body.Len() == 0 || w.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %d %v", path, w.Code, w.Header())
		}
		for _, part := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "base-uri 'none'", "frame-ancestors 'none'"} {
			if !strings.Contains(csp, part+";") && !strings.HasSuffix(csp, part) {
				t.Errorf("%s: no %s in %s", path, part, csp)
			}
		}
		if strings.Contains(csp, "unsafe") || strings.Contains(csp, "http") {
			t.Errorf("%s: %s", path, csp)
		}
	}
	// The page has no code and no style within, which the policy forbids, and names no other site.
	for _, name := range []string{"index.html", "page.css", "page.js"} {
		b, err := os.ReadFile("page/" + name)
		testkit.OK(t, err)
		for _, bad := range []string{"<style", " style=", " onclick=", "innerHTML", "insertAdjacentHTML", "eval(", "https://", "@import"} {
			if bytes.Contains(b, []byte(bad)) {
				t.Errorf("%s has %s", name, bad)
			}
		}
	}
}
