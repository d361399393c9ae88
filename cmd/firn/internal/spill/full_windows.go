package spill

import "golang.org/x/sys/windows"

// alsoFull are the errors of file systems without room, beside ENOSPC.
var alsoFull = []error{windows.ERROR_DISK_FULL, windows.ERROR_HANDLE_DISK_FULL}
