//go:build !windows

package filelease

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

// defaultDir returns firn in $XDG_STATE_HOME, or else in ~/.local/state.
func defaultDir() (string, error) {
	if state := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(state) {
		return filepath.Join(state, "firn"), nil
	}
	home, err := os.UserHomeDir()
	if err == nil && !filepath.IsAbs(home) {
		err = fmt.Errorf("the home directory %q is not an absolute path", home)
	}
	return filepath.Join(home, ".local", "state", "firn"), err
}

// machineID returns the number of this machine, or "".
func machineID() string {
	id, err := readAll("/etc/machine-id")
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(id))
}
