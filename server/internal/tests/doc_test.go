// Package tests tests the server with clients that the server does not need.
package tests

import (
	_ "github.com/redis/go-redis/v9"
	_ "google.golang.org/grpc"

	_ "github.com/firn-id/firn/server/internal/supply"
)
