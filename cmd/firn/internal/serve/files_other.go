//go:build !unix

package serve

import "github.com/firn-id/firn/server"

func fitFiles(*server.Config) {}

func mayMake(string) error { return nil }
