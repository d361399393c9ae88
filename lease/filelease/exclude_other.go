//go:build !linux && !windows

package filelease

import "errors"

type clash struct{}

func (c *clash) foreign() bool  { return false }
func (c *clash) holder() string { return "" }

func claim(int64, []int64) (release func(), found []*clash, err error) {
	return nil, nil, errors.ErrUnsupported
}

func rootDirectory() string { return "" }
