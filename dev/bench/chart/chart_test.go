package chart

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"html"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firn-id/firn/internal/testing/chromium"
)

// A chart refuses texts that a wide font would draw over other parts.
func TestTooLong(t *testing.T) {
	good := Chart{Title: "one two three four five six seven", Unit: "ns", Series: []string{""}, Rows: []Row{{Label: "a", Values: []float64{1}}}}
	if _, err := good.Draw(); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", 60)
	for name, change := range map[string]func(*Chart){
		"title":  func(c *Chart) { c.Title = long },
		"unit":   func(c *Chart) { c.Unit = long },
		"series": func(c *Chart) { c.Series = []string{long[:20]} },
		"label":  func(c *Chart) { c.Rows = []Row{{Label: long, Values: []float64{1}}} },
		"detail": func(c *Chart) { c.Rows = []Row{{Detail: long, Values: []float64{1}}} },
		"value":  func(c *Chart) { c.Rows = []Row{{Values: []float64{123456789}}} },
	} {
		c := good
		change(&c)
		if _, err := c.Draw(); err == nil || !strings.Contains(err.Error(), "shorten the text") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Texts and bars stand out from the background of light and of dark pages, as WCAG 2 asks: by 4.5 for texts,
// and by 3 for other parts.
func TestContrast(t *testing.T) {
	luminance := func(colour uint32) float64 {
		part := func(v uint32) float64 {
			c := float64(v&0xff) / 255
			if c <= 0.04045 {
				return c / 12.92
			}
			return math.Pow((c+0.055)/1.055, 2.4)
		}
		return 0.2126*part(colour>>16) + 0.7152*part(colour>>8) + 0.0722*part(colour)
	}
	contrast := func(a, b uint32) float64 {
		l, m := luminance(a), luminance(b)
		return (max(l, m) + 0.05) / (min(l, m) + 0.05)
	}
	if got := contrast(0, 0xffffff); math.Abs(got-21) > 1e-9 {
		t.Fatalf("black on white: %v", got)
	}
	for _, p := range paints() {
		if p == page || p == track {
			continue
		}
		least := 3.0
		if p == ink {
			least = 4.5
		}
		for _, got := range []float64{contrast(p.light, page.light), contrast(p.dark, page.dark)} {
			if got < least {
				t.Errorf("%s: %.2f, want %v", p.class, got, least)
			}
		}
	}
}

//go:embed testdata/layout.html
var layout string

// The charts of the documents are readable in every font: no text lies on a bar or on another text, and the
// drawing has all of each text. Chromium has its own fonts, and texts as wide and as narrow as fonts can be.
func TestLayout(t *testing.T) {
	var charts []string
	for _, dir := range []string{"../results", "../storage/results"} {
		found, err := filepath.Glob(filepath.Join(dir, "*.svg"))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s has no charts: %v", dir, err)
		}
		charts = append(charts, found...)
	}
	for _, fault := range faults(t, charts) {
		t.Error(fault)
	}
}

// The check of the layout finds charts that are not readable.
func TestLayoutFinds(t *testing.T) {
	dir := t.TempDir()
	var charts []string
	unreadable := map[string]string{
		"text on a bar":  `<rect x="0" y="0" width="50" height="20"/><text x="10" y="15">name</text>`,
		"text on a text": `<text x="10" y="15">name</text><text x="12" y="18">name</text>`,
		"text is cut":    `<text x="80" y="15">a long name</text>`,
	}
	for fault, parts := range unreadable {
		file := filepath.Join(dir, fault+".svg")
		if err := os.WriteFile(file, []byte(`<svg xmlns="http://www.w3.org/2000/svg" width="100" height="20">`+parts+`</svg>`), 0o666); err != nil {
			t.Fatal(err)
		}
		charts = append(charts, file)
	}
	found := strings.Join(faults(t, charts), "\n")
	for fault := range unreadable {
		if !strings.Contains(found, fault+".svg, as drawn: "+fault+": ") {
			t.Errorf("does not find %s:\n%s", fault, found)
		}
	}
}

// faults returns what Chromium finds wrong with charts.
func faults(t *testing.T, charts []string) []string {
	t.Helper()
	program, variables := chromium.Find(t)
	var drawings strings.Builder
	for _, file := range charts {
		svg, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		drawings.WriteString("<div id=\"" + filepath.Base(file) + "\">" + string(svg) + "</div>\n")
	}
	file := filepath.Join(t.TempDir(), "layout.html")
	if err := os.WriteFile(file, []byte(strings.Replace(layout, "DRAWINGS", drawings.String(), 1)), 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", "file://"+file)
	cmd.Env = append(os.Environ(), variables...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, &stderr)
	}
	_, found, _ := strings.Cut(string(out), "<html>")
	found, _, _ = strings.Cut(found, "</html>")
	var all []string
	if err := json.Unmarshal([]byte(html.UnescapeString(found)), &all); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return all
}
