//go:build !unix

package cli

// onSignals does nothing: the system sends no signal when the size changes.
func (c *Screen) onSignals() (stop func()) { return func() {} }
