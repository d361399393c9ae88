//go:build !goexperiment.jsonv2

package testkit

import "encoding/json"

var jsonPackages = []jsonPackage{{name: "v1", marshal: json.Marshal, unmarshal: json.Unmarshal, valid: json.Valid, unquotes: true}}
