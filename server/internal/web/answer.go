package web

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/firn-id/firn/server/internal/reason"
)

// idsHead sets the headers of an answer with IDs. An ID from a cache would be a second copy of the ID. The answer has
// nothing that a browser could take for a page, so a header against that would only make the answer longer.
func idsHead(w http.ResponseWriter, m media) {
	w.Header().Set("Content-Type", contentTypes[m])
	w.Header().Set("Cache-Control", "no-store")
}

// head sets the headers of the other answers of the API.
func head(w http.ResponseWriter, m media) {
	idsHead(w, m)
	w.Header().Set("X-Content-Type-Options", "nosniff")
}

// An errorObject is an error in JSON.
type errorObject struct {
	Reason  string `json:"reason"`
	Message string `json:"message"`
	Retry   int64  `json:"retry_ms,omitempty"`
	Remedy  string `json:"remedy,omitempty"`
}

func errorOf(e *reason.Error) *errorObject {
	return &errorObject{e.Of.Name, e.Text, (e.Retry + time.Millisecond - 1).Milliseconds(), string(e.Remedy)}
}

// refuse counts an error, and answers with the reason of the error.
func (s *server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	if _, ok := errors.AsType[*reason.Error](err); !ok && r.Context().Err() != nil {
		panic(http.ErrAbortHandler) // the client has gone, so nobody reads an answer
	}
	e := reason.Of(err)
	s.Calls.Refused(e.Of)
	if e.Of == reason.Internal {
		s.Log.Error("http: "+e.Text, "method", r.Method, "path", r.URL.Path)
	}
	answerError(w, r, e, e.Of.HTTP)
}

// answerError answers with an error in JSON, or in text if the client prefers text.
func answerError(w http.ResponseWriter, r *http.Request, e *reason.Error, status int) {
	m, bad := choose(r.Header, asText)
	if bad != nil {
		m = asJSON
	}
	head(w, m)
	h := w.Header()
	switch e.Of {
	case reason.Token:
		h.Set("WWW-Authenticate", `Bearer realm="firn"`)
	case reason.WrongToken:
		h.Set("WWW-Authenticate", `Bearer realm="firn", error="invalid_token"`)
	}
	if e.Retry > 0 {
		h.Set("Retry-After", strconv.FormatInt(int64((e.Retry+time.Second-1)/time.Second), 10))
	}
	var body []byte
	if m == asText {
		body = []byte(strings.Join(strings.Fields(e.Error()), " ") + "\n")
	} else {
		body = object(map[string]*errorObject{"error": errorOf(e)})
	}
	w.WriteHeader(status)
	w.Write(body)
}

// object returns a value in JSON, and a new line.
func object(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // values of this package have a form in JSON
	}
	return append(b, '\n')
}

// write answers with a value in JSON. The error is reason.Accept.
func write(w http.ResponseWriter, r *http.Request, v any) error {
	if _, err := choose(r.Header, asJSON); err != nil {
		return err
	}
	head(w, asJSON)
	w.Write(object(v)) // an error is the client's, who has gone
	return nil
}

//go:embed openapi.json page
var files embed.FS

// policy is the Content-Security-Policy of the page: only files of this server, and no code or style within the page.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// file returns the function of a route that serves an embedded file.
func file(name, mediaType string) handler {
	content, err := files.ReadFile(name)
	if err != nil {
		panic(fmt.Errorf("web: %w", err)) // the binary has all files
	}
	return func(w http.ResponseWriter, _ *http.Request) error {
		h := w.Header()
		h.Set("Content-Type", mediaType)
		h.Set("Cache-Control", "no-cache") // another version of the server has another page
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		w.Write(content)
		return nil
	}
}
