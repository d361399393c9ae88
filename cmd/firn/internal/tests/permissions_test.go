package tests

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestDocumentOfRights: docs/stores.md shows the rights that firn pool permissions prints. TestRole has the rights in Kubernetes.
func TestDocumentOfRights(t *testing.T) {
	content, err := os.ReadFile("../../../../docs/stores.md")
	check(t, err)
	text := string(content)
	shown := regexp.MustCompile(`(?m)^\$ firn (pool permissions .*)\n((?:[^$\x60].*\n)+)`).FindAllStringSubmatch(text, -1)
	if len(shown) != 3 {
		t.Errorf("%d examples of firn pool permissions", len(shown))
	}
	for _, example := range shown {
		stdout, stderr, code := firnRun(t, "", strings.Fields(example[1])...)
		if code != 0 || stdout != example[2] {
			t.Errorf("firn %s: exit code %d\n%s%s\nthe document has\n%s", example[1], code, stdout, stderr, example[2])
		}
	}
}
