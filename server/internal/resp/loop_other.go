//go:build !unix

package resp

// fast returns false: sockets of other systems are read and written by package net alone.
func (c *conn) fast() bool { return false }
