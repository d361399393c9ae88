//go:build goexperiment.jsonv2

package testkit

import (
	"encoding/json"
	"encoding/json/jsontext"
	jsonv2 "encoding/json/v2"
)

var jsonPackages = []jsonPackage{
	{"v1", json.Marshal, json.Unmarshal, json.Valid},
	{
		"v2",
		func(v any) ([]byte, error) { return jsonv2.Marshal(v) },
		func(data []byte, v any) error { return jsonv2.Unmarshal(data, v) },
		func(data []byte) bool { return jsontext.Value(data).IsValid() },
	},
}
