package spill

import (
	"os"
	"sync"
)

// named are the temporary files that have a name.
var named struct {
	mu    sync.Mutex
	files map[string]bool
}

func remember(name string) {
	named.mu.Lock()
	defer named.mu.Unlock()
	if named.files == nil {
		named.files = make(map[string]bool)
	}
	named.files[name] = true
}

func forget(name string) {
	named.mu.Lock()
	defer named.mu.Unlock()
	delete(named.files, name)
}

// RemoveAll removes the temporary files that have a name, before an early end of the process. RemoveAll may
// be called from any goroutine.
func RemoveAll() {
	named.mu.Lock()
	defer named.mu.Unlock()
	for name := range named.files {
		os.Remove(name)
	}
}
