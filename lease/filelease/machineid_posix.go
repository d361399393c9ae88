//go:build !windows

package filelease

import "bytes"

// machineID returns the number of this machine, or "".
func machineID() string {
	id, err := readAll("/etc/machine-id")
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(id))
}
