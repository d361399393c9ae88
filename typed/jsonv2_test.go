//go:build goexperiment.jsonv2

package typed_test

import (
	"encoding/json/v2"
	"testing"

	"github.com/firn-id/firn/snowflakesi"
	"github.com/firn-id/firn/typed"
)

// The second version of encoding/json writes values as the first does, and texts as names of
// members.
func TestJSONv2(t *testing.T) {
	type numbers = typed.ID[snowflakesi.ID, User]
	type strings = typed.ID[snowflakesi.ID, Order]
	type document struct {
		A numbers
		B strings
		C map[numbers]strings
		D map[strings]numbers
		E strings
		F strings `json:",omitzero"`
	}
	in := document{numbers{ID: 5}, strings{ID: 6}, map[numbers]strings{{ID: 7}: {ID: 8}}, map[strings]numbers{{ID: 9}: {ID: 10}}, strings{}, strings{}}
	data, err := json.Marshal(in)
	if want := `{"A":5,"B":"order_6","C":{"7":"order_8"},"D":{"order_9":10},"E":null}`; err != nil || string(data) != want {
		t.Fatalf("%s, %v; want %s", data, err, want)
	}
	var out document
	if err := json.Unmarshal(data, &out); err != nil || out.A != in.A || out.B != in.B || out.C[numbers{ID: 7}] != in.C[numbers{ID: 7}] || out.D[strings{ID: 9}] != in.D[strings{ID: 9}] || !out.E.IsZero() {
		t.Errorf("%+v, %v; want %+v", out, err, in)
	}
	if err := json.Unmarshal([]byte(`{"D":{"9":10}}`), &out); err == nil {
		t.Error("a name without a prefix is read")
	}
}
