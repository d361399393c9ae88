package spill

import (
	"crypto/rand"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// alsoFull are the errors of file systems without room, beside ENOSPC.
var alsoFull = []error{windows.ERROR_DISK_FULL, windows.ERROR_HANDLE_DISK_FULL}

// openTemp makes a file that the system removes when it is closed, also by the end of the process.
func openTemp(dir string) (*os.File, error) {
	const flags = os.O_RDWR | os.O_CREATE | os.O_EXCL | windows.O_FILE_FLAG_DELETE_ON_CLOSE
	return os.OpenFile(filepath.Join(dir, "firn-"+rand.Text()), flags, 0o600)
}
