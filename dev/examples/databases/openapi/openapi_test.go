package openapi

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/scru160"
	"github.com/firn-id/firn/sno"
	"github.com/firn-id/firn/snowflakesi"
	"github.com/firn-id/firn/ulidflake"
)

func schemas(t *testing.T) openapi3.Schemas {
	document := testkit.Must(openapi3.NewLoader().LoadFromData(Document))
	testkit.OK(t, document.Validate(t.Context()))
	return document.Components.Schemas
}

// A kind is a schema of texts, and the texts of the vectors of its format.
type kind struct {
	schema string
	folder string
	parse  func(string) (any, error) // returns the ID as JSON writes IDs
	text   func(vector map[string]any) string
}

func asJSON[T any](parse func(string) (T, error)) func(string) (any, error) {
	return func(s string) (any, error) { return parse(s) }
}

var kinds = []kind{
	{"Nanoflake", "nanoflake", asJSON(nanoflake.Parse), func(v map[string]any) string {
		text := v["base36"].(string)
		return strings.Repeat("0", 13-len(text)) + text
	}},
	{"UlidFlake", "ulidflake", asJSON(ulidflake.Parse), func(v map[string]any) string { return v["string"].(string) }},
	{"SCRU160", "scru160", asJSON(scru160.Parse), func(v map[string]any) string { return v["base32hex"].(string) }},
	{"Sno", "sno", asJSON(sno.Parse), func(v map[string]any) string { return v["string"].(string) }},
}

func read[T any](t *testing.T, path string) (all []T) {
	t.Helper()
	b := testkit.Must(os.ReadFile("../../../../" + path))
	testkit.OK(t, json.Unmarshal(b, &all))
	if len(all) < 10 {
		t.Fatalf("%s has %d vectors", path, len(all))
	}
	return all
}

// The pattern of a schema accepts the text of each vector, and refuses all other texts, except some above the
// largest ID.
func TestPatterns(t *testing.T) {
	all := schemas(t)
	for _, k := range kinds {
		schema := all[k.schema].Value
		pattern := regexp.MustCompile(schema.Pattern)
		accepts := func(s string) bool {
			if uint64(len(s)) < schema.MinLength || uint64(len(s)) > *schema.MaxLength {
				return false
			}
			if got := schema.VisitJSON(s) == nil; got != pattern.MatchString(s) {
				t.Errorf("%s: %q: the pattern and the library of OpenAPI disagree", k.schema, s)
			}
			return pattern.MatchString(s)
		}
		for _, v := range read[map[string]any](t, "internal/vectors/"+k.folder+"/vectors.json") {
			if text := k.text(v); !accepts(text) {
				t.Errorf("%s: refuses %q", k.schema, text)
			}
		}
		example := schema.Example.(string)
		id, err := k.parse(example)
		if err != nil || !accepts(example) {
			t.Errorf("%s: the example %s is not an ID: %v", k.schema, example, err)
		}
		if b, err := json.Marshal(id); err != nil || string(b) != `"`+example+`"` {
			t.Errorf("%s: JSON has %s, %v, and the schema %s", k.schema, b, err, example)
		}
		refused := 0
		for at := range len(example) { // texts with one character changed
			for _, c := range "-+_ \n!/:@[`{iIlLoOuUzZé" {
				text := example[:at] + string(c) + example[at+1:]
				if _, err := k.parse(text); err != nil {
					refused++
					if accepts(text) {
						t.Errorf("%s: accepts %q: %v", k.schema, text, err)
					}
				}
			}
		}
		for _, text := range []string{"", example[1:], example[:len(example)-1], example + "0", "0" + example, " " + example, example + "\n", example + "\n" + example} {
			refused++
			if accepts(text) {
				t.Errorf("%s: accepts %q", k.schema, text)
			}
		}
		if refused < 100 {
			t.Errorf("%s: only %d bad texts", k.schema, refused)
		}
		if k.folder == "sno" {
			continue
		}
		for _, r := range read[struct {
			Form, Input, Error string
			Repeat             int
		}](t, "internal/vectors/"+k.folder+"/reject.json") {
			if r.Form == "text" && r.Repeat == 0 && r.Error != "range" && accepts(r.Input) {
				t.Errorf("%s: accepts %q: %s", k.schema, r.Input, r.Error)
			}
		}
	}
}

// Snowflake-SI is an integer for JSON: each vector passes, and no value beyond 2^53.
func TestInteger(t *testing.T) {
	schema := schemas(t)["SnowflakeSI"].Value
	for _, v := range read[struct{ Value int64 }](t, "internal/vectors/snowflakesi/vectors.json") {
		id := testkit.Must(snowflakesi.FromInt64(v.Value))
		if err := schema.VisitJSON(float64(id.Int64())); err != nil && !id.IsZero() {
			t.Errorf("refuses %v: %v", id, err)
		}
	}
	for _, wrong := range []any{0.0, -1.0, 1.5, float64(snowflakesi.Max) + 1, "1315899857217280", nil} {
		if schema.VisitJSON(wrong) == nil {
			t.Errorf("accepts %v", wrong)
		}
	}
	if b, err := json.Marshal(snowflakesi.ID(1315899857217280)); err != nil || string(b) != "1315899857217280" {
		t.Errorf("JSON has %s, %v", b, err)
	}
}

// The document describes the JSON of an order by Go. An order without a parent has null.
func TestOrder(t *testing.T) {
	schema := schemas(t)["Order"].Value
	for text, want := range map[string]bool{
		`{"id": "0549x5l2itvr4", "item": "globe"}`:                            true,
		`{"id": "0549x5l2itvr4", "parent": null, "item": "globe"}`:            true,
		`{"id": "0549x5l2itvr4", "parent": "0549x5l2itvr4", "item": "globe"}`: true,
		`{"id": null, "item": "globe"}`:                                       false,
		`{"id": 673740726894358528, "item": "globe"}`:                         false,
		`{"item": "globe"}`:                                                   false,
	} {
		var value any
		testkit.OK(t, json.Unmarshal([]byte(text), &value))
		if err := schema.VisitJSON(value); (err == nil) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}
