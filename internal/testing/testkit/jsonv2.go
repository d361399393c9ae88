//go:build goexperiment.jsonv2

package testkit

import (
	"encoding/json"
	"encoding/json/jsontext"
	jsonv2 "encoding/json/v2"
)

var jsonPackages = []jsonPackage{
	{name: "v1", marshal: json.Marshal, unmarshal: json.Unmarshal, valid: json.Valid},
	{
		name:      "v2",
		marshal:   func(v any) ([]byte, error) { return jsonv2.Marshal(v) },
		unmarshal: func(data []byte, v any) error { return jsonv2.Unmarshal(data, v) },
		valid:     func(data []byte) bool { return jsontext.Value(data).IsValid() },
	},
}
