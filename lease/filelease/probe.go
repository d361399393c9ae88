package filelease

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/firn-id/firn/lease/driver"
)

// Keys returns the keys that begin with prefix, in order, without reading the entries. The name of
// an unreadable folder and a slash stand for the keys below the folder. Keys is for tools.
func (s *Store) Keys(ctx context.Context, prefix string) ([]string, error) {
	var keys []string
	err := s.visit(ctx, "", func(folder string, files map[string]fs.FileMode, err error) error {
		if err != nil {
			keys = append(keys, folder+"/")
			return nil
		}
		for file := range files {
			if name, isEntry := strings.CutSuffix(file, suffix); isEntry && driver.CheckKey(name) == nil {
				keys = append(keys, path.Join(folder, name))
			}
		}
		return nil
	})
	keys = slices.DeleteFunc(keys, func(key string) bool { return !strings.HasPrefix(key, prefix) })
	slices.Sort(keys)
	return keys, err
}

// Probe reports whether new entries can be written. In each readable folder, Probe writes, renames
// and removes a file of its own, as Put does with an entry's file. Probe is for tools.
func (s *Store) Probe(ctx context.Context) error {
	return s.visit(ctx, "", func(folder string, _ map[string]fs.FileMode, err error) error {
		if err != nil {
			return nil // Keys names the folder
		}
		if err := probe(s.folder(folder)); err != nil {
			var file *fs.PathError
			if errors.As(err, &file) {
				err = file.Err // the name of Probe's own file says nothing
			}
			return fmt.Errorf("%s cannot be written: %w", s.folder(folder), err)
		}
		return nil
	})
}

// visit calls f for a folder and every folder below it, with the names in the folder or the error of
// the reading. The error of the store's directory ends the visit.
func (s *Store) visit(ctx context.Context, folder string, f func(folder string, files map[string]fs.FileMode, err error) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	files, err := s.names(folder)
	if folder == "" && err != nil {
		return err
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil // removed meanwhile
	}
	if err := f(folder, files, err); err != nil {
		return err
	}
	for name, mode := range files {
		if mode.IsDir() && driver.CheckKey(name) == nil {
			if err := s.visit(ctx, path.Join(folder, name), f); err != nil {
				return err
			}
		}
	}
	return nil
}

func probe(folder string) error {
	f, err := os.CreateTemp(folder, tempPrefix+"probe-*")
	if err != nil {
		return err
	}
	name := f.Name()
	defer func() { os.Remove(name) }()
	_, err = f.Write(make([]byte, driver.MaxValue))
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		if err = rename(name, name+"-renamed"); err == nil {
			name += "-renamed"
		}
	}
	if err != nil {
		return err
	}
	return syncFolder(folder)
}
