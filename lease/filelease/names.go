package filelease

import (
	"path/filepath"
	"strings"
)

// escaped marks the names of files that stand for names that Windows gives another meaning: con is a
// device, in every folder and with every extension, and Windows leaves out a dot at the end. No name
// of a key has the character.
const escaped = "~"

// escape returns the path of a key below the store's directory, without suffix.
func escape(key string) string {
	if !escapesNames {
		return filepath.FromSlash(key)
	}
	names := strings.Split(key, "/")
	for i, name := range names {
		names[i] = escapeName(name)
	}
	return filepath.Join(names...)
}

// escapeName returns a name for a file. Windows changes no such name.
func escapeName(name string) string {
	if stem, _, _ := strings.Cut(name, "."); isDevice(stem) {
		name = stem + escaped + name[len(stem):]
	}
	if strings.HasSuffix(name, ".") {
		name += escaped
	}
	return name
}

// isDevice reports whether some version of Windows takes a name for a device.
func isDevice(name string) bool {
	switch name {
	case "con", "prn", "aux", "nul":
		return true
	}
	return len(name) == 4 && (strings.HasPrefix(name, "com") || strings.HasPrefix(name, "lpt")) && '0' <= name[3] && name[3] <= '9'
}

// unescapeName returns the name in keys that the name of a file or a folder stands for, with suffix
// if the file's name has it. If ok is false, the file stands for no name.
func unescapeName(file string) (name string, ok bool) {
	if !escapesNames {
		return file, true
	}
	stem, isEntry := strings.CutSuffix(file, suffix)
	name = strings.ReplaceAll(stem, escaped, "")
	if escapeName(name) != stem {
		return "", false
	}
	if isEntry {
		name += suffix
	}
	return name, true
}

// urlPath returns the path of a directory in the store's address.
func urlPath(dir string) string {
	p := filepath.ToSlash(dir)
	if !strings.HasPrefix(p, "/") {
		p = "/" + p // of C:/dir
	}
	return p
}
