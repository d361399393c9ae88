package web

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/server/internal/web"
)

// The server answers as its description says: each status of each path has an answer, and each answer has its schema.
func TestOpenAPI(t *testing.T) {
	var draining atomic.Bool
	past, end := past()
	set := newSet(t, past)
	end()
	s := serve(t, web.Config{Set: set, Draining: draining.Load})
	answer, err := http.Get(s.URL + "/openapi.json")
	testkit.OK(t, err)
	text, err := io.ReadAll(answer.Body)
	answer.Body.Close()
	testkit.OK(t, err)
	doc, err := openapi3.NewLoader().LoadFromData(text)
	testkit.OK(t, err)
	testkit.OK(t, doc.Validate(t.Context()))
	openapi3filter.RegisterBodyDecoder("text/html", openapi3filter.PlainBodyDecoder)

	seen := map[string]bool{} // path and status
	ask := func(path, target string, status int, headers ...string) {
		t.Helper()
		method := http.MethodGet
		if status == http.StatusMethodNotAllowed {
			method = http.MethodPost
		}
		r, err := http.NewRequestWithContext(t.Context(), method, s.URL+target, nil)
		testkit.OK(t, err)
		for i := 0; i < len(headers); i += 2 {
			if headers[i] == "Host" {
				r.Host = headers[i+1]
			}
			r.Header.Set(headers[i], headers[i+1])
		}
		w, err := http.DefaultClient.Do(r)
		testkit.OK(t, err)
		defer w.Body.Close()
		body, err := io.ReadAll(w.Body)
		testkit.OK(t, err)
		if w.StatusCode != status {
			t.Errorf("%s %v: %d %s, want %d", target, headers, w.StatusCode, body, status)
		}
		if err := conforms(t.Context(), doc, path, r, w, body); err != nil {
			t.Errorf("%s %v: %d %.300s: %v", target, headers, w.StatusCode, body, err)
		}
		seen[fmt.Sprint(path, " ", w.StatusCode)] = true
	}

	const ids, inspect, list, one = "/v1/generators/{name}/ids", "/v1/inspect/{id}", "/v1/generators", "/v1/generators/{name}"
	ask(one, "/v1/generators/order", 200) // before its first ID
	for _, format := range []string{"order", "nanoflake", "snowflakesi", "scru160", "sno", "ulidflake", "ulidflake-scalable"} {
		for _, accept := range []string{"application/json", "text/plain", "application/octet-stream"} {
			ask(ids, "/v1/generators/"+format+"/ids?n=3", 200, "Accept", accept)
			ask(ids, "/v1/generators/"+format+"/ids?n=0", 400, "Accept", accept)
		}
		ask(ids, "/v1/generators/"+format+"/ids?as=hex", 200)
		ask(one, "/v1/generators/"+format, 200)
	}
	ask(ids, "/v1/generators/order/ids?as=int", 200)
	ask(ids, "/v1/generators/scru160/ids?as=int", 400)
	ask(ids, "/v1/generators/order/ids?m=1", 400)
	ask(ids, "/v1/generators/nothing/ids", 404)
	ask(ids, "/v1/generators/past/ids", 500)
	ask(one, "/v1/generators/nothing", 404)
	ask(list, "/v1/generators", 200)
	ask(inspect, "/v1/inspect/02nb7trtydk3c", 200)
	ask(inspect, "/v1/inspect/02nb7trtydk3c?generator=order", 200)
	ask(inspect, "/v1/inspect/nonsense!", 400)
	ask(inspect, "/v1/inspect/1?generator=nothing", 404)
	ask("/readyz", "/readyz", 503) // the generator past
	draining.Store(true)
	ask("/readyz", "/readyz", 503)
	draining.Store(false)
	for _, path := range []string{"/", "/healthz", "/openapi.json", "/metrics"} {
		ask(path, path, 200)
	}
	for path := range doc.Paths.Map() {
		target := strings.NewReplacer("{name}", "order", "{id}", "1").Replace(path)
		ask(path, target, 405)
		ask(path, target, 421, "Host", "evil.example")
		if strings.HasPrefix(path, "/v1") {
			ask(path, target, 403, "Sec-Fetch-Site", "cross-site")
			ask(path, target, 406, "Accept", "image/png")
			ask(path, target+"?x=1", 400)
		}
	}
	ask("/metrics", "/metrics", 403, "Sec-Fetch-Site", "cross-site")
	ask("/readyz", "/readyz", 503)
	s = serve(t, web.Config{Set: newSet(t)})
	ask("/readyz", "/readyz", 200)
	s = serve(t, web.Config{Set: newSet(t, broken())})
	ask(ids, "/v1/generators/broken/ids", 503)
	ask(one, "/v1/generators/broken", 200)
	ask("/readyz", "/readyz", 503)

	s = serve(t, web.Config{Set: newSet(t), Access: newAccess(t)})
	for path := range doc.Paths.Map() {
		target := strings.NewReplacer("{name}", "order", "{id}", "1").Replace(path)
		if item := doc.Paths.Value(path); item.Get.Security == nil { // without a token
			ask(path, target, 200)
			continue
		}
		ask(path, target, 401)
		ask(path, target, 401, "Authorization", "Bearer wrong")
		ask(path, target, 200, "Authorization", "Bearer "+correct)
	}
	ask(ids, "/v1/generators/order/ids?n=2", 429, "Authorization", "Bearer "+slow)

	rare := map[string]bool{"500": true, "/metrics 400": true, "/metrics 404": true} // faults, and a server without metrics
	for path, item := range doc.Paths.Map() {
		for status := range item.Get.Responses.Map() {
			if !seen[path+" "+status] && !rare[status] && !rare[path+" "+status] {
				t.Errorf("no answer of %s had the status %s", path, status)
			}
		}
	}
}

// conforms returns an error if an answer is not as the description says.
func conforms(ctx context.Context, doc *openapi3.T, path string, r *http.Request, w *http.Response, body []byte) error {
	item := doc.Paths.Value(path)
	if item == nil {
		return fmt.Errorf("the description has no path %s", path)
	}
	response := item.Get.Responses.Value(strconv.Itoa(w.StatusCode))
	if response == nil {
		return fmt.Errorf("the description has no status %d", w.StatusCode)
	}
	mediaType := w.Header.Get("Content-Type")
	if response.Value.Content.Get(mediaType) == nil {
		return fmt.Errorf("the description has no answer of the type %s", mediaType)
	}
	return openapi3filter.ValidateResponse(ctx, &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{
			Request: r,
			Route:   &routers.Route{Spec: doc, Path: path, PathItem: item, Method: http.MethodGet, Operation: item.Get},
		},
		Status: w.StatusCode, Header: w.Header, Body: io.NopCloser(bytes.NewReader(body)),
		Options: &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true},
	})
}
