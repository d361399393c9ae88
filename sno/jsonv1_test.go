//go:build !goexperiment.jsonv2

package sno_test

import "encoding/json"

var jsonPackages = []jsonPackage{{"v1", json.Marshal, json.Unmarshal}}
