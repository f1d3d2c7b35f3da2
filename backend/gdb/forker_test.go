// The thread that starts gdbs.

package gdb

import (
	"os"
	"path/filepath"
	"testing"
)

// Files that gdbs make are private, whatever the umask is, and the umask of the ranks is not touched.
func TestPrivateFiles(t *testing.T) {
	dir := t.TempDir()
	mode := func(name string) os.FileMode {
		t.Helper()
		i, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return i.Mode()
	}
	touch := func(name string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	touch("before")
	f := newForker()
	defer f.close()
	gdb := func(name string) []string {
		return []string{"/bin/sh", "-c", `: >"$1"`, "sh", filepath.Join(dir, name)}
	}
	ended := func(p *process, err error) error {
		if err == nil {
			p.reap()
			p.close()
		}
		return err
	}
	done := make(chan error)
	f.start(order{argv: gdb("made"), done: func(p *process, err error) { done <- ended(p, err) }})
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if err := ended(startProcess(gdb("made where the umask cannot be changed"), os.Environ(), dir, false, false)); err != nil {
		t.Fatal(err)
	}
	touch("after")
	t.Chdir(dir)
	where := []string{"/bin/sh", "-c", "pwd >here"}
	f.start(order{argv: where, done: func(p *process, err error) { done <- ended(p, err) }})
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile("here"); err != nil || string(text) != dir+"\n" {
		t.Errorf("a gdb is started in %q (%v), and this process has gone to %q", text, err, dir)
	}
	for _, name := range []string{"made", "made where the umask cannot be changed"} {
		if got := mode(name); got != 0o600 {
			t.Errorf("a file that a gdb has %s has mode %v", name, got)
		}
	}
	if before, after := mode("before"), mode("after"); before != after {
		t.Errorf("a file of this process has mode %v, and %v after a gdb was started", before, after)
	}
}
