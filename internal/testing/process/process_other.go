//go:build !linux

package process

import (
	"errors"
	"os/exec"
)

// Supported reports whether processes can be started here.
const Supported = false

func bind(*exec.Cmd) {}

// Freeze stops the process.
func (p *Process) Freeze() error { return errors.ErrUnsupported }

// Thaw ends a Freeze.
func (p *Process) Thaw() error { return errors.ErrUnsupported }
