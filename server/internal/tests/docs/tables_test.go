// Package docs tests docs/server.md: its tables against the code, and its examples against firn serve.
package docs

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"google.golang.org/genproto/googleapis/rpc/code"

	"github.com/firn-id/firn/inspect"
	"github.com/firn-id/firn/internal/shape"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/memlease"
	"github.com/firn-id/firn/server/internal/metrics"
	"github.com/firn-id/firn/server/internal/reason"
	"github.com/firn-id/firn/server/internal/supply"
)

var update = flag.Bool("update", false, "write the tables of docs/server.md")

const document = "../../../../docs/server.md"

func read(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile(document)
	testkit.OK(t, err)
	return string(text)
}

// table compares the rows of a table of the document with the rows of the code. With -update, table writes the rows.
func table(t *testing.T, heading string, want []string) {
	t.Helper()
	text := read(t)
	before, rest, ok := strings.Cut(text, heading+"\n")
	if !ok {
		t.Fatalf("the document has no table %s", heading)
	}
	line, rest, _ := strings.Cut(rest, "\n")
	var have []string
	for strings.HasPrefix(rest, "|") {
		var row string
		row, rest, _ = strings.Cut(rest, "\n")
		have = append(have, row)
	}
	if *update {
		whole := before + heading + "\n" + line + "\n" + strings.Join(want, "\n") + "\n" + rest
		testkit.OK(t, os.WriteFile(document, []byte(whole), 0o644))
		return
	}
	for _, row := range want {
		if !slices.Contains(have, row) {
			t.Errorf("the document lacks %s", row)
		}
	}
	for _, row := range have {
		if !slices.Contains(want, row) {
			t.Errorf("the code does not have %s", row)
		}
	}
	if !t.Failed() && !slices.Equal(have, want) {
		t.Errorf("the table %s has another order", heading)
	}
}

// TestErrors compares the table of reasons, both ways. go test -update writes the table.
func TestErrors(t *testing.T) {
	var want []string
	for _, r := range reason.All() {
		again := cmp.Or(r.Again(), "–")
		want = append(want, fmt.Sprintf("| `%s` | %d | `%s` | `-%s` | %s | %s | %s |", r.Name, r.HTTP, code.Code(r.GRPC), r.RESP, again, r.Means, r.Remedy))
	}
	table(t, "| reason | HTTP | gRPC | RESP | again after | what happened | what to do |", want)
}

// TestMetrics compares the table of metrics with the registry, both ways. go test -update writes the table.
func TestMetrics(t *testing.T) {
	var want []string
	for _, f := range families(t) {
		if !strings.HasPrefix(f.GetName(), "firn_") {
			continue
		}
		var labels []string
		for _, l := range f.GetMetric()[0].GetLabel() {
			labels = append(labels, "`"+l.GetName()+"`")
		}
		want = append(want, fmt.Sprintf("| `%s` | %s | %s | %s |", f.GetName(), strings.ToLower(f.GetType().String()), strings.Join(labels, ", "), f.GetHelp()))
	}
	table(t, "| metric | type | labels | what |", want)
}

// families returns the metrics of a server that has served, in the order of their names.
func families(t *testing.T) []*dto.MetricFamily {
	t.Helper()
	m := metrics.New()
	nanoflake, _ := inspect.Lookup("nanoflake")
	set, err := supply.New(supply.Config{Notify: m.Event, Failed: m.Failed, Generators: []supply.Generator{{Name: "orders", Format: nanoflake,
		Recipe: shape.Recipe{Leased: true}, Create: true, Store: "memory",
		Open: func(context.Context) (driver.Store, error) { return memlease.New(), nil }}}})
	testkit.OK(t, err)
	t.Cleanup(func() { _ = set.Close(context.Background()) })
	m.Collect(set)
	m.Protocol("resp").Answered(1, time.Millisecond)
	s, _ := set.Find("orders")
	testkit.OK(t, testkit.Err(s.AppendBinary(t.Context(), nil, 1)))
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
	parser := expfmt.NewTextParser(model.UTF8Validation)
	byName, err := parser.TextToMetricFamilies(bytes.NewReader(w.Body.Bytes()))
	testkit.OK(t, err)
	var all []*dto.MetricFamily
	for _, f := range byName {
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b *dto.MetricFamily) int { return strings.Compare(a.GetName(), b.GetName()) })
	return all
}
