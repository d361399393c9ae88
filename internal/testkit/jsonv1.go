//go:build !goexperiment.jsonv2

package testkit

import "encoding/json"

var jsonPackages = []jsonPackage{{"v1", json.Marshal, json.Unmarshal, json.Valid}}
