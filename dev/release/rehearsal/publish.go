package rehearsal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/firn-id/firn/dev/release/git"
)

// copyTree copies the files of the tree that git knows or would add.
func (s *stage) copyTree(dir string) error {
	repo, err := git.Open(dir)
	if err != nil {
		return err
	}
	files, err := repo.WorkFiles()
	if err != nil {
		return err
	}
	for _, file := range files {
		if err := copyFile(filepath.Join(s.copied(), file), filepath.Join(repo.Dir, file)); err != nil {
			return err
		}
	}
	return nil
}

// copyFile copies a regular file with its mode, or a symbolic link. A missing file has been deleted.
func copyFile(to, from string) error {
	info, err := os.Lstat(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return os.Symlink(target, to)
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, info.Mode().Perm())
}

// commit makes the copy a work tree of git, with one commit.
func (s *stage) commit() error {
	repo := git.Repo{Dir: s.copied()}
	for _, args := range [][]string{
		{"init", "--quiet"},
		{"add", "--all", "--force"},
		{"-c", "user.name=Rehearsal", "-c", "user.email=rehearsal@localhost", "-c", "commit.gpgSign=false",
			"-c", "core.hooksPath=" + os.DevNull, "commit", "--quiet", "--message", "Rehearsal"},
	} {
		if _, err := repo.Run(args...); err != nil {
			return err
		}
	}
	return nil
}

// publish makes the tags of a release in the copy. Then the go command makes the files of a module
// proxy from the tags: the folder of downloads in a module cache has the layout of a proxy.
func (s *stage) publish(ctx context.Context) error {
	repo := git.Repo{Dir: s.copied()}
	var versions []string
	for _, m := range s.tree.Published() {
		if _, err := repo.Run("-c", "tag.gpgSign=false", "tag", m.Tag(s.tree.Version)); err != nil {
			return err
		}
		versions = append(versions, m.Path+"@"+s.tree.Version)
	}
	dir, err := s.folder("publisher")
	if err != nil {
		return err
	}
	remote := "https://" + s.tree.Root().Path
	env := append(gitConfig(s.env, "url.file://"+s.copied()+".insteadOf", remote), "GOPROXY=direct", "GOMODCACHE="+s.published())
	out, err := command{dir, env}.run(ctx, "go", append([]string{"mod", "download", "-json"}, versions...)...)
	if err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	for d := json.NewDecoder(strings.NewReader(out)); d.More(); {
		var m struct{ Path, Error, Zip string }
		if err := d.Decode(&m); err != nil {
			return err
		}
		if m.Error != "" {
			return errors.New(m.Error)
		}
		if !strings.HasPrefix(m.Zip, s.published()) {
			return fmt.Errorf("%s was not published", m.Path)
		}
	}
	return nil
}

// gitConfig returns an environment in which git has one more setting.
func gitConfig(env []string, key, value string) []string {
	count := 0
	for _, v := range env {
		if n, ok := strings.CutPrefix(v, "GIT_CONFIG_COUNT="); ok {
			count, _ = strconv.Atoi(n)
		}
	}
	return append(slices.Clone(env), fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", count, key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", count, value),
		fmt.Sprintf("GIT_CONFIG_COUNT=%d", count+1))
}
