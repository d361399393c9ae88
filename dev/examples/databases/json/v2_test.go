//go:build goexperiment.jsonv2

package orders

import (
	"encoding/json/v2"
	"reflect"
	"testing"

	"github.com/firn-id/firn/dev/examples/databases/internal/sample"
	"github.com/firn-id/firn/nanoflake"
)

func init() { v2 = true }

// Package encoding/json/v2 writes the same and reads it back.
func TestDirectV2(t *testing.T) {
	ids := sample.IDs(t)
	o := Order{ID: ids[0], Parent: &ids[1], Related: ids[3:5], Notes: map[nanoflake.ID]string{ids[5]: "late"}}
	b, err := json.Marshal(o)
	want := `{"id":"` + ids[0].String() + `","parent":"` + ids[1].String() + `","related":["` + ids[3].String() + `","` +
		ids[4].String() + `"],"notes":{"` + ids[5].String() + `":"late"}}`
	if err != nil || string(b) != want {
		t.Errorf("wrote %s, %v, want %s", b, err, want)
	}
	var got Order
	if err := json.Unmarshal(b, &got); err != nil || !reflect.DeepEqual(got, o) {
		t.Errorf("read %v, %v, want %v", got, err, o)
	}
	if err := json.Unmarshal([]byte(`{"id":"0549x5l2itvr!"}`), &got); err == nil {
		t.Errorf("a wrong text reads as %v", got)
	}
}
