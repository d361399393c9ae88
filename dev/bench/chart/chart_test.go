package chart

import (
	"strings"
	"testing"
)

// A colour without a twin is an error: a dark page could hide it.
func TestAdapt(t *testing.T) {
	svg, err := adapt([]byte(`<svg><g style="fill:#1F1F1F"/></svg>`))
	if err != nil || !strings.Contains(string(svg), `[style*="fill:#1F1F1F"] { fill: #E6E6E6 !important }`) {
		t.Errorf("%s, %v", svg, err)
	}
	for _, style := range []string{"fill:#123456", "stroke:#1F1F1F", "fill:#D0D0D0"} {
		if _, err := adapt([]byte(`<svg><g style="` + style + `"/></svg>`)); err == nil || !strings.Contains(err.Error(), style) {
			t.Errorf("%s: %v", style, err)
		}
	}
}
