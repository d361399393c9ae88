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
	number, text := typed.As[User, snowflakesi.ID], typed.As[Order, snowflakesi.ID]
	in := document{number(5), text(6), map[numbers]strings{number(7): text(8)}, map[strings]numbers{text(9): number(10)}, strings{}, strings{}}
	data, err := json.Marshal(in)
	if want := `{"A":5,"B":"order_6","C":{"7":"order_8"},"D":{"order_9":10},"E":null}`; err != nil || string(data) != want {
		t.Fatalf("%s, %v; want %s", data, err, want)
	}
	var out document
	if err := json.Unmarshal(data, &out); err != nil || out.A != in.A || out.B != in.B || out.C[number(7)] != in.C[number(7)] || out.D[text(9)] != in.D[text(9)] || !out.E.IsZero() {
		t.Errorf("%+v, %v; want %+v", out, err, in)
	}
	if err := json.Unmarshal([]byte(`{"D":{"9":10}}`), &out); err == nil {
		t.Error("a name without a prefix is read")
	}
}
