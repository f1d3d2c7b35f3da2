package main

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestInstall installs below a directory for packages, moves the tree, and debugs a program by a symbolic link to it;
// then all of it is removed.
func TestInstall(t *testing.T) {
	bin, dest := t.TempDir(), t.TempDir()
	for name, path := range map[string]string{"sdm": os.Getenv("SDM"), "sdm-server": "", "sdm-master": ""} {
		if path == "" {
			path, _ = exec.LookPath(name)
		}
		if err := os.Symlink(path, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	call := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Env = append(os.Environ(), "HOME="+dest)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %q: %v\n%s", name, args, err, out)
		}
		return string(out)
	}
	install := func(args ...string) {
		call("../../packaging/install", append(args, bin, dest, "/opt/sdm/1", "/mod/sdm.lua")...)
	}

	install()
	files := filesIn(t, dest)
	for _, want := range []string{"opt/sdm/1/bin/sdm-server", "opt/sdm/1/share/man/man1/sdm-attach.1", "opt/sdm/1/share/man/man1/sdm-master.1",
		"opt/sdm/1/share/man/man7/sdm-sets.7", "opt/sdm/1/share/bash-completion/completions/sdm", "opt/sdm/1/share/doc/sdm/docs/guide.md", "mod/sdm.lua"} {
		if !slices.Contains(files, want) {
			t.Errorf("%s is missing", want)
		}
	}
	for _, name := range files {
		text, err := os.ReadFile(filepath.Join(dest, name))
		named := bytes.Contains(text, []byte("/opt/sdm/1"))
		if filepath.Base(filepath.Dir(name)) != "docs" && (err != nil || named != strings.HasPrefix(name, "mod/") || !strings.Contains(name, "/bin/") && bytes.Contains(text, []byte(dest))) {
			t.Errorf("%s names the place where it was put (%t), or: %v", name, named, err)
		}
	}

	moved := filepath.Join(dest, "moved")
	if err := os.Rename(filepath.Join(dest, "opt/sdm/1"), moved); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dest, "link")
	if err := os.Symlink(filepath.Join(moved, "bin/sdm"), link); err != nil {
		t.Fatal(err)
	}
	program, err := exec.LookPath("true")
	if err != nil {
		t.Fatal(err)
	}
	if out := call(link, "run", "--stop-at", "entry", "-b", "-e", "continue", program); !strings.Contains(out, "[0] exited normally") {
		t.Errorf("a program under the moved sdm: %s", out)
	}
	os.Remove(link)
	if err := os.Rename(moved, filepath.Join(dest, "opt/sdm/1")); err != nil {
		t.Fatal(err)
	}
	install("--remove")
	if left := filesIn(t, filepath.Join(dest, "opt")); len(left) > 0 {
		t.Errorf("after uninstall: %q", left)
	}
	if _, err := os.Stat(filepath.Join(dest, "opt/sdm/1/share/doc")); err != nil {
		t.Errorf("a directory that is not only of sdm: %v", err)
	}
}

// filesIn returns the names of the files below a directory.
func filesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, _ := filepath.Rel(dir, path)
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
