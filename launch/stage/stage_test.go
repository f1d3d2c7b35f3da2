package stage

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func source(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sdm-server")
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func left(t *testing.T, dir string) int {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// TestPut calls Put from many processes of a node at the same time.
func TestPut(t *testing.T) {
	from, dir := source(t, strings.Repeat("program", 10000)), t.TempDir()
	want, err := Hash(from)
	if err != nil {
		t.Fatal(err)
	}
	paths := make([]string, 16)
	var group sync.WaitGroup
	for i := range paths {
		group.Go(func() {
			path, err := Put(from, dir, "s", want)
			if err != nil {
				t.Error(err)
			}
			paths[i] = path
		})
	}
	group.Wait()
	for _, path := range paths {
		if path != paths[0] {
			t.Errorf("%s and %s", path, paths[0])
		}
	}
	if found, err := Hash(paths[0]); err != nil || found != want {
		t.Errorf("hash %s, %v", found, err)
	}
	if info, err := os.Stat(paths[0]); err != nil || info.Mode() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
	Remove(paths[0])
	if n := left(t, dir); n != 0 {
		t.Errorf("%d files are left", n)
	}
}

func TestPutReplacesWhatIsNotOurs(t *testing.T) {
	from, dir := source(t, "new"), t.TempDir()
	path, err := Put(from, dir, "s", "")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("old"), 0o700); err != nil {
		t.Fatal(err)
	}
	again, err := Put(from, dir, "s", "")
	text, _ := os.ReadFile(again)
	if err != nil || string(text) != "new" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestPutRefuses(t *testing.T) {
	from := source(t, "program")
	cases := []struct{ name, source, dir, hash, want string }{
		{"no directory", from, filepath.Join(t.TempDir(), "none"), "", "no such file or directory"},
		{"a file", from, from, "", "not a directory"},
		{"not to be written", from, "/proc", "", "no such file"},
		{"another hash", from, t.TempDir(), strings.Repeat("0", 64), "the copy is not what it should be"},
		{"no program", "/nonexistent", t.TempDir(), "", "no such file"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			path, err := Put(c.source, c.dir, "s", c.hash)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s, %v; want %q", path, err, c.want)
			}
		})
	}
	if err := checkRoom(t.TempDir(), 1<<60); err == nil || !strings.Contains(err.Error(), "MB are free, and") {
		t.Errorf("a full disk: %v", err)
	}
}

// TestScript makes a program of a line; arguments of the call follow those of the line.
func TestScript(t *testing.T) {
	dir := t.TempDir()
	path, err := Script(dir, "a/../b", `printf '[%s]' 'two words' "it's"`)
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(path, "more $x").Output()
	if want := "[two words][it's][more $x]"; err != nil || string(out) != want {
		t.Errorf("%s, %v, want %s", out, err, want)
	}
	if filepath.Dir(path) != dir {
		t.Errorf("it is in %s", path)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
	for _, c := range []struct{ dir, session, line, want string }{
		{dir, "a/../b", "true", "file exists"},
		{"/nonexistent", "s", "true", "no such file or directory"},
		{dir, "s", "a\x00b", "zero byte"},
	} {
		if _, err := Script(c.dir, c.session, c.line); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v, want %q", c.dir, c.session, err, c.want)
		}
	}
}

// TestScriptsOfTheDeadAreRemoved checks that exactly the scripts of ended processes are removed.
func TestScriptsOfTheDeadAreRemoved(t *testing.T) {
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	orphan := fmt.Sprintf("server-0a.%d@%s", dead.Process.Pid, host)
	others := []string{
		fmt.Sprintf("server-0b.%d@%s", os.Getpid(), host), fmt.Sprintf("server-0c.%d@%s.else", dead.Process.Pid, host),
		"server-0d.@" + host, "server-0e.0@" + host, "server-0f.-1@" + host, "server-10", "secret",
	}
	for _, name := range append(others, orphan) {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	path, err := Script(dir, "s", "true")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(others, filepath.Base(path)) {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, orphan)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is still there: %v", orphan, err)
	}
}
