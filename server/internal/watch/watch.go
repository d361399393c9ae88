// Package watch notices changes of files by reading them. That works with every file system, and with the links that
// Kubernetes puts before secrets.
package watch

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"time"
)

// Every is the pause between two looks. A change counts when two looks in a row have found the same content: the program
// that writes the files has then finished, as a rule.
const Every = time.Second

// Files are some files. Files is for one goroutine.
type Files struct {
	paths      []string
	read, seen [sha256.Size]byte // of the content, as the caller read it and at the last look
}

// New returns the Files of some paths. Call New before the files are read.
func New(paths ...string) *Files {
	f := &Files{paths: paths}
	f.read = f.look()
	f.seen = f.read
	return f
}

func (f *Files) look() [sha256.Size]byte {
	var all []byte
	for _, path := range f.paths {
		content, err := os.ReadFile(path)
		all = append(fmt.Appendf(all, "%d %t ", len(content), err == nil), content...)
	}
	return sha256.Sum256(all)
}

// Changed reports whether the caller reads the files again: they have changed, and not since the last look.
func (f *Files) Changed() bool {
	before := f.seen
	f.seen = f.look()
	if f.seen != before || f.seen == f.read {
		return false
	}
	f.read = f.seen
	return true
}

// Run calls reload after each change of the files, until ctx ends.
func (f *Files) Run(ctx context.Context, reload func()) {
	t := time.NewTicker(Every)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		if f.Changed() {
			reload()
		}
	}
}
