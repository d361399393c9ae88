//go:build goexperiment.jsonv2

package sno_test

import (
	"encoding/json"
	jsonv2 "encoding/json/v2"
	"testing"

	"github.com/firn-id/firn/sno"
)

var jsonPackages = []jsonPackage{
	{"v1", json.Marshal, json.Unmarshal},
	{
		"v2",
		func(v any) ([]byte, error) { return jsonv2.Marshal(v, jsonv2.Deterministic(true)) },
		func(data []byte, v any) error { return jsonv2.Unmarshal(data, v) },
	},
}

// A zero ID is null as a value and text as a name, in nested objects and lists too.
func TestJSONv2Names(t *testing.T) {
	value := []map[sno.ID]sno.ID{{sno.Zero(): sno.Zero()}}
	const want = `[{"2222222222222222":null}]`
	if got, err := jsonv2.Marshal(value); err != nil || string(got) != want {
		t.Errorf("%s, %v", got, err)
	}
	var back []map[sno.ID]sno.ID
	if err := jsonv2.Unmarshal([]byte(want), &back); err != nil || len(back) != 1 || len(back[0]) != 1 {
		t.Errorf("%v, %v", back, err)
	}
}
