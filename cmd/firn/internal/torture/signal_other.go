//go:build !unix

package torture

import (
	"errors"
	"os"
	"os/exec"
)

// Supported reports whether this system can stop and kill processes as a run needs.
const Supported = false

func detach(*exec.Cmd) {}

func suspend(*os.Process) error { return errors.ErrUnsupported }

func resume(*os.Process) error { return errors.ErrUnsupported }

func terminate(*os.Process) error { return errors.ErrUnsupported }

var terminated []os.Signal

func wasKilled(*os.ProcessState) bool { return false }

func wasTerminated(*os.ProcessState) bool { return false }
