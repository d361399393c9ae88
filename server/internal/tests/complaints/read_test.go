package complaints

import (
	"bufio"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/firn-id/firn/server/internal/metrics"
)

// read reads all metrics as Prometheus does, by name and labels.
func read(t testing.TB, m *metrics.Metrics) map[string]float64 {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
	values := map[string]float64{}
	for lines := bufio.NewScanner(w.Body); lines.Scan(); {
		name, value, ok := strings.Cut(lines.Text(), "} ")
		if ok && !strings.HasPrefix(name, "#") {
			values[name+"}"], _ = strconv.ParseFloat(value, 64)
		}
	}
	return values
}
