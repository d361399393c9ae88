//go:build unix

package spill

import "syscall"

// alsoFull are the errors of file systems without room for the user, beside ENOSPC.
var alsoFull = []error{syscall.EDQUOT}
