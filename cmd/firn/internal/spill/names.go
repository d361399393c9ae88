package spill

import (
	"os"
	"sync"
)

// named are the temporary files that have a name.
var named struct {
	mu    sync.Mutex
	files map[string]*os.File
}

func remember(f *os.File) {
	named.mu.Lock()
	defer named.mu.Unlock()
	if named.files == nil {
		named.files = make(map[string]*os.File)
	}
	named.files[f.Name()] = f
}

func forget(f *os.File) {
	named.mu.Lock()
	defer named.mu.Unlock()
	delete(named.files, f.Name())
}

// RemoveAll closes and removes the temporary files that have a name, before an early end of the process.
// RemoveAll may be called from any goroutine.
func RemoveAll() {
	named.mu.Lock()
	defer named.mu.Unlock()
	for name, f := range named.files {
		f.Close() // Windows keeps open files
		os.Remove(name)
	}
}
