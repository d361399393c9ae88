//go:build cgo

package orders

import _ "github.com/mattn/go-sqlite3"

func init() { drivers["mattn"] = "sqlite3" }
