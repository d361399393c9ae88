//go:build unix

package access

import "os"

// others reports whether users beside the owner and the group may read or write a file.
func others(info os.FileInfo) bool { return info.Mode().Perm()&0o007 != 0 }
