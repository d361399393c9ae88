//go:build unix

package docs

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/server/firnv1"
)

// TestTiDB40322EachProtocol: a metric of TiDB stayed empty for requests that went another way through the code (TiDB
// 40322). The test asks firn serve by each protocol, once for an ID and once for an error, and wants each in the metrics.
func TestTiDB40322EachProtocol(t *testing.T) {
	address := "127.0.0.1:" + serve(t)
	get := func(path string) (int, string) {
		answer, err := http.Get("http://" + address + path)
		testkit.OK(t, err)
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		testkit.OK(t, err)
		return answer.StatusCode, string(text)
	}
	if code, text := get("/v1/generators/nanoflake/ids"); code != http.StatusOK {
		t.Error(text)
	}
	if code, text := get("/v1/generators/nanoflake/ids?n=0"); code != http.StatusBadRequest {
		t.Error(text)
	}

	redis, err := net.Dial("tcp", address)
	testkit.OK(t, err)
	defer redis.Close()
	fmt.Fprint(redis, "*2\r\n$4\r\nINCR\r\n$9\r\nnanoflake\r\n*2\r\n$4\r\nINCR\r\n$4\r\nnone\r\n")
	lines := bufio.NewReader(redis)
	for _, first := range ":-" {
		if line, err := lines.ReadString('\n'); err != nil || line[0] != byte(first) {
			t.Errorf("RESP answers %q, %v", line, err)
		}
	}

	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	testkit.OK(t, err)
	defer conn.Close()
	client := firnv1.NewFirnClient(conn)
	if _, err := client.Take(t.Context(), &firnv1.TakeRequest{Name: "nanoflake"}); err != nil {
		t.Error(err)
	}
	if _, err := client.Take(t.Context(), &firnv1.TakeRequest{Name: "none"}); status.Code(err) != codes.NotFound {
		t.Error(err)
	}

	_, text := get("/metrics")
	parser := expfmt.NewTextParser(model.UTF8Validation)
	served, err := parser.TextToMetricFamilies(strings.NewReader(text))
	testkit.OK(t, err)
	for _, f := range families(t) {
		if served[f.GetName()] == nil && strings.HasPrefix(f.GetName(), "firn_") {
			t.Errorf("firn serve has no metric %s", f.GetName())
		}
	}
	for protocol, refused := range map[string]string{"http": "count", "resp": "unknown", "grpc": "unknown"} {
		of := func(name, reason string) (sum float64) {
			for _, m := range served[name].GetMetric() {
				has := func(value string) bool {
					return slices.ContainsFunc(m.GetLabel(), func(l *dto.LabelPair) bool { return l.GetValue() == value })
				}
				if has(protocol) && (reason == "" || has(reason)) {
					sum += m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
				}
			}
			return sum
		}
		for name, n := range map[string]float64{
			"firn_server_answers_total":     of("firn_server_answers_total", ""),
			"firn_server_answer_seconds":    of("firn_server_answer_seconds", ""),
			"firn_server_refusals_total":    of("firn_server_refusals_total", refused),
			"firn_server_connections_total": of("firn_server_connections_total", ""),
		} {
			if n < 1 {
				t.Errorf("%s of %s is %v", name, protocol, n)
			}
		}
	}
	ids := 0.0
	for _, m := range served["firn_generator_ids_total"].GetMetric() {
		ids += m.GetCounter().GetValue()
	}
	if ids < 3 {
		t.Errorf("%v IDs of three requests", ids)
	}
}
