// Package grpcurl pins the version of grpcurl, by which tests call the server. The program is the tool of this module, so
// that the tests of the server do not depend on what grpcurl requires.
package grpcurl
