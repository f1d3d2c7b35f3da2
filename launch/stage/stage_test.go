package stage

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
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

// putAt calls Put and returns the path of the copy.
func putAt(t *testing.T, source, dir, name, want string) (string, error) {
	t.Helper()
	p, err := Put(source, dir, name, want)
	if err != nil {
		return "", err
	}
	p.File.Close()
	return p.Path, nil
}

// TestPut calls Put from many processes of a node at the same time; some remove the copy at once.
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
			p, err := Put(from, dir, "copies", want)
			if err != nil {
				t.Error(err)
				return
			}
			defer p.File.Close()
			if paths[i] = p.Path; i%4 == 0 {
				Remove(p.Path)
			}
			if found, err := hashOf(io.NewSectionReader(p.File, 0, 1<<20)); err != nil || found != want {
				t.Errorf("hash %s, %v", found, err)
			}
		})
	}
	group.Wait()
	for _, path := range paths {
		if path != filepath.Join(dir, "copies", "sdm-server") {
			t.Error(path)
		}
	}
	path, err := putAt(t, from, dir, "copies", want)
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[string]os.FileMode{path: 0o700, filepath.Dir(path): 0o700 | os.ModeDir} {
		if info, err := os.Stat(at); err != nil || info.Mode() != want {
			t.Errorf("%v, %v", info, err)
		}
	}
	Remove(path)
	if n := left(t, dir); n != 0 {
		t.Errorf("%d files are left", n)
	}
}

func TestPutReplacesAnotherBuild(t *testing.T) {
	from, dir := source(t, "new"), t.TempDir()
	path, err := putAt(t, from, dir, "s", "")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("old"), 0o700); err != nil {
		t.Fatal(err)
	}
	again, err := putAt(t, from, dir, "s", "")
	text, _ := os.ReadFile(again)
	if err != nil || string(text) != "new" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestPutRefuses(t *testing.T) {
	from := source(t, "program")
	there := func(make func(path string) error) string {
		dir := t.TempDir()
		if err := make(filepath.Join(dir, "copies")); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	// The right program in it makes no difference.
	open := there(func(path string) error {
		return errors.Join(os.Mkdir(path, 0), os.Chmod(path, 0o777), os.Link(from, filepath.Join(path, "sdm-server")))
	})
	file := there(func(path string) error { return os.Link(from, path) })
	link := there(func(path string) error { return errors.Join(os.Mkdir(path+"x", 0o700), os.Symlink(path+"x", path)) })
	cases := []struct{ name, source, dir, hash, want string }{
		{"no directory", from, filepath.Join(t.TempDir(), "none"), "", "no such file or directory"},
		{"a file", from, from, "", "not a directory"},
		{"a directory that cannot be written", from, "/proc", "", "no such file"},
		{"another hash", from, t.TempDir(), strings.Repeat("0", 64), "the copy is not what it should be"},
		{"no program", "/nonexistent", t.TempDir(), "", "no such file"},
		{"a directory that is open to others", from, open, "", "copies is there and open to others (mode 0777)"},
		{"a file in its place", from, file, "", "copies is there and is no directory: it is not ours"},
		{"a link in its place", from, link, "", "copies is there and is no directory: it is not ours"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			path, err := putAt(t, c.source, c.dir, "copies", c.hash)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s, %v; want %q", path, err, c.want)
			}
		})
	}
	if err := checkRoom(t.TempDir(), 1<<60); err == nil || !strings.Contains(err.Error(), "MB are free, and") {
		t.Errorf("a full disk: %v", err)
	}
	Remove(filepath.Join(open, "copies", "sdm-server"))
	if n := left(t, filepath.Join(open, "copies")); n != 1 {
		t.Error("what is not ours was removed")
	}
	info, err := os.Stat(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := checkPrivate("copies", info, os.Geteuid()+1); err == nil || err.Error() != "copies is there and belongs to somebody else" {
		t.Error(err)
	}
}

// TestNames: servers of a session on a host find the same name, and nobody can foresee it.
func TestNames(t *testing.T) {
	one := Name([]byte("secret"), "n1")
	if one != Name([]byte("secret"), "n1") || !strings.HasPrefix(one, "sdm-server-") {
		t.Error(one)
	}
	for _, other := range []string{Name([]byte("another"), "n1"), Name([]byte("secret"), "n2"), Name(nil, "n1"), Name(nil, "n1")} {
		if other == one {
			t.Error("the same name")
		}
		one = other
	}
}

// TestExec checks that a copy runs though its path leads to something else meanwhile, under the name
// of the program, and without the descriptors that it came by.
func TestExec(t *testing.T) {
	if at := os.Getenv("STAGE_TEST_COPY"); at != "" {
		p, err := Put("/proc/self/exe", filepath.Dir(at), filepath.Base(at), "")
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(os.Remove(p.Path), os.WriteFile(p.Path, []byte("#!/bin/sh\necho swapped\n"), 0o700)); err != nil {
			t.Fatal(err)
		}
		syscall.Dup2(int(p.File.Fd()), 8) // as the line of a shell
		t.Fatal(p.Exec([]string{"sdm-server", "-test.run=^TestExec$"}, []string{"STAGE_TEST_SETTLE=1"}))
	}
	if os.Getenv("STAGE_TEST_SETTLE") != "" {
		_, before := os.Stat("/proc/self/fd/8")
		if err := Settle("sdm-server"); err != nil {
			t.Fatal(err)
		}
		_, after := os.Stat("/proc/self/fd/8")
		name, _ := os.ReadFile("/proc/self/comm")
		fmt.Printf("%s%v %v\n", name, before, errors.Is(after, os.ErrNotExist))
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestExec$")
	cmd.Env = append(os.Environ(), "STAGE_TEST_COPY="+filepath.Join(t.TempDir(), "copies"))
	if out, err := cmd.CombinedOutput(); err != nil || !strings.HasPrefix(string(out), "sdm-server\n<nil> true\n") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestScript makes a program of a line; arguments of the call follow the arguments in the line.
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

// TestScriptsOfEndedProcessesAreRemoved checks that exactly the scripts of ended processes are removed.
func TestScriptsOfEndedProcessesAreRemoved(t *testing.T) {
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
