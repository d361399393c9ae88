//go:build !linux

package etcdtest

import (
	"errors"
	"syscall"
)

const supported = false

func attributes() *syscall.SysProcAttr { return nil }

func (p *process) freeze() error { return errors.ErrUnsupported }
func (p *process) thaw() error   { return errors.ErrUnsupported }
