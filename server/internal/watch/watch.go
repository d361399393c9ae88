// Package watch notices changes of files by looking at them. Looking works with every file system, and with the links
// that Kubernetes puts before secrets.
package watch

import (
	"context"
	"os"
	"time"
)

// Every is the pause between two looks. A change counts when two looks in a row have found the same files: the program
// that writes the files has then finished, as a rule.
const Every = time.Second

// Files are some files, as they were when they were read. Files is for one goroutine.
type Files struct {
	paths []string
	read  []os.FileInfo // nil for a file without a known state
	seen  []os.FileInfo // at the last look
}

// New returns the Files of some paths. Call New before the files are read.
func New(paths ...string) *Files {
	f := &Files{paths: paths}
	f.seen = f.look()
	f.read = f.seen
	// Times of files are coarse. A file that has changed in the last moments can change again with the same time and the
	// same size, so the Files count as changed.
	const coarsest = 2 * time.Second
	for _, info := range f.seen {
		if info != nil && time.Since(info.ModTime()) < coarsest {
			f.read = make([]os.FileInfo, len(paths))
		}
	}
	return f
}

func (f *Files) look() []os.FileInfo {
	all := make([]os.FileInfo, len(f.paths))
	for i, path := range f.paths {
		if info, err := os.Stat(path); err == nil {
			all[i] = info
		}
	}
	return all
}

// Changed reports whether the caller reads the files again: they have changed, and not since the last look.
func (f *Files) Changed() bool {
	before := f.seen
	f.seen = f.look()
	if !same(before, f.seen) || same(f.read, f.seen) {
		return false
	}
	f.read = f.seen
	return true
}

func same(a, b []os.FileInfo) bool {
	for i := range a {
		switch {
		case a[i] == nil && b[i] == nil:
		case a[i] == nil || b[i] == nil:
			return false
		case !os.SameFile(a[i], b[i]) || a[i].Size() != b[i].Size() || !a[i].ModTime().Equal(b[i].ModTime()):
			return false
		}
	}
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
