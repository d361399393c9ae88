package orders

import (
	"encoding/json"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"testing"

	"github.com/firn-id/firn/dev/examples/databases/internal/sample"
	"github.com/firn-id/firn/internal/testing/services"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/scru160"
)

// v2 is whether encoding/json is over encoding/json/v2.
var v2 = false

func TestOrder(t *testing.T) {
	ids := sample.IDs(t)
	for _, c := range []struct {
		order Order
		want  string
	}{
		{Order{ID: ids[0]}, `{"id":"` + ids[0].String() + `","parent":null}`},
		{Order{}, `{"id":null,"parent":null}`},
		{Order{ID: ids[0], Parent: &ids[1], Refund: ids[2], Seat: 1315899857217280, Related: ids[3:5], Notes: map[nanoflake.ID]string{ids[5]: "late"}},
			`{"id":"` + ids[0].String() + `","parent":"` + ids[1].String() + `","refund":"` + ids[2].String() + `","seat":1315899857217280,` +
				`"related":["` + ids[3].String() + `","` + ids[4].String() + `"],"notes":{"` + ids[5].String() + `":"late"}}`},
	} {
		b, err := json.Marshal(c.order)
		if err != nil || string(b) != c.want {
			t.Errorf("wrote %s, %v, want %s", b, err, c.want)
		}
		var got Order
		if err := json.Unmarshal(b, &got); err != nil || !reflect.DeepEqual(got, c.order) {
			t.Errorf("read %v, %v, want %v", got, err, c.order)
		}
	}
}

func TestLegacy(t *testing.T) {
	id := sample.IDs(t)[0]
	var l Legacy
	if err := json.Unmarshal([]byte(`{"id":"`+id.Decimal()+`"}`), &l); err != nil {
		t.Fatal(err)
	}
	if o, err := l.Order(); err != nil || o.ID != id {
		t.Errorf("read %v, %v, want %v", o.ID, err, id)
	}
	if _, err := (Legacy{ID: -1}).Order(); err == nil {
		t.Error("a negative number is an ID")
	}
}

// The tests hold with encoding/json over encoding/json/v2, too.
func TestV2(t *testing.T) {
	if v2 {
		t.Skip("this test starts the run with GOEXPERIMENT=jsonv2, and this is that run")
	}
	services.Full(t) // the test builds the package again with GOEXPERIMENT=jsonv2
	command := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-v", ".")
	command.Env = append(os.Environ(), "GOEXPERIMENT=jsonv2")
	out, err := command.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestDirectV2") {
		t.Errorf("%v\n%s", err, out)
	}
}

// The option string changes nothing that is written. Over the first version of encoding/json, an ID with
// the option reads decimal digits in a string, too; over the second version it does not.
func TestOptionString(t *testing.T) {
	type wrong struct {
		ID nanoflake.ID `json:"id,string"`
	}
	id := sample.IDs(t)[0]
	for text, ok := range map[string]bool{id.String(): true, id.Decimal(): !v2} {
		var got wrong
		if err := json.Unmarshal([]byte(`{"id":"`+text+`"}`), &got); (err == nil) != ok || ok && got.ID != id {
			t.Errorf("%q reads as %v, %v", text, got, err)
		}
	}
	if b, err := json.Marshal(wrong{id}); err != nil || string(b) != `{"id":"`+id.String()+`"}` {
		t.Errorf("wrote %s, %v", b, err)
	}
	// The text of an ID that is also a number in JSON does not read over the first version.
	const ambiguous = "1000000000000"
	var got wrong
	if err := json.Unmarshal([]byte(`{"id":"`+ambiguous+`"}`), &got); (err == nil) != v2 {
		t.Errorf("%q reads as %v, %v", ambiguous, got, err)
	}
}

// The option omitempty leaves out no array.
func TestOmitEmpty(t *testing.T) {
	b, err := json.Marshal(struct {
		N nanoflake.ID `json:"n,omitempty"`
		S scru160.ID   `json:"s,omitempty"`
		Z scru160.ID   `json:"z,omitzero"`
	}{})
	if want := `{"s":null}`; err != nil || string(b) != want {
		t.Errorf("wrote %s, %v, want %s", b, err, want)
	}
}
