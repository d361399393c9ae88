//go:build !linux

package alarm

import "time"

func sleep(d time.Duration) { time.Sleep(d) }
