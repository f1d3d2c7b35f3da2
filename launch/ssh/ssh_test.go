package ssh

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// limit is generous for busy machines.
const limit = time.Minute

// shell makes a remote shell that runs its line on this host and logs the host name.
func shell(t *testing.T, body string) (path, log string) {
	t.Helper()
	dir := t.TempDir()
	path, log = filepath.Join(dir, "remote"), filepath.Join(dir, "log")
	text := fmt.Sprintf("#!/bin/sh\nhost=$1; shift\necho $host >>%s\n%s\n", log, body)
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return path, log
}

// await waits until the commands of all hosts have ended.
func await(t *testing.T, f *Fleet, hosts ...string) {
	t.Helper()
	late := time.After(limit)
	for {
		all := true
		for _, h := range hosts {
			_, ended := f.Ended(h)
			all = all && ended
		}
		if all {
			return
		}
		select {
		case <-f.Changed():
		case <-late:
			t.Fatal("they have not all ended")
		}
	}
}

// TestCommandsReachTheirHosts checks that each command runs once, with its arguments byte for
// byte, and that the shell ends when the command has closed its streams.
func TestCommandsReachTheirHosts(t *testing.T) {
	path, log := shell(t, `exec sh -c "$*"`)
	out := filepath.Join(t.TempDir(), "out")
	var commands []Command
	var hosts []string
	for i := range 10 {
		host := fmt.Sprintf("h%d", i)
		hosts = append(hosts, host)
		commands = append(commands, Command{Host: host, Argv: []string{"/bin/sh", "-c", `printf '%s|' "$@" >` + out + host + `; exec >/dev/null 2>&1; exec sleep 2`, "x", "it's", "a  $b", "", `"q"`}})
	}
	f := Start(Spec{Shell: []string{path}, Commands: commands, AtOnce: 3})
	await(t, f, hosts...)
	for _, h := range hosts {
		if err, _ := f.Ended(h); err != nil {
			t.Errorf("%s: %v", h, err)
		}
		if b, _ := os.ReadFile(out + h); string(b) != `it's|a  $b||"q"|` {
			t.Errorf("%s got %q", h, b)
		}
	}
	f.Close()
	b, err := os.ReadFile(log)
	if err != nil || len(strings.Fields(string(b))) != 10 {
		t.Errorf("the shell was called for %q, %v", b, err)
	}
}

// TestInputReachesCommands checks that commands read the input from its descriptor, and that their
// standard input is empty.
func TestInputReachesCommands(t *testing.T) {
	path, _ := shell(t, `exec sh -c "$*"`)
	out := filepath.Join(t.TempDir(), "out")
	read := fmt.Sprintf(`cat <&%d >%s; cat >>%[2]s; exec >/dev/null 2>&1`, InputFD, out)
	for _, local := range []bool{false, true} {
		f := Start(Spec{Shell: []string{path}, Input: []byte("\x00it's\n"), Commands: []Command{{Host: "a", Argv: []string{"/bin/sh", "-c", read}, Local: local}}})
		await(t, f, "a")
		f.Close()
		if b, err := os.ReadFile(out); err != nil || string(b) != "\x00it's\n" {
			t.Errorf("local %v: %q, %v", local, b, err)
		}
	}
}

// TestFailuresSayWhy covers failures of the remote shell and of the command.
func TestFailuresSayWhy(t *testing.T) {
	path, _ := shell(t, `[ $host = bad ] && { echo "no route to $host" >&2; exit 255; }; exec sh -c "$*"`)
	f := Start(Spec{Shell: []string{path}, Commands: []Command{
		{Host: "bad", Argv: []string{"true"}},
		{Host: "missing", Argv: []string{"/no/such/server"}},
		{Host: "here", Argv: []string{"/no/such/server"}, Local: true},
	}})
	defer f.Close()
	await(t, f, "bad", "missing", "here")
	for host, want := range map[string]string{"bad": "exit status 255: no route to bad", "missing": "/no/such/server", "here": "/no/such/server"} {
		err, _ := f.Ended(host)
		var failure *Failure
		if !errors.As(err, &failure) || failure.Host != host || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", host, err)
		}
	}
	g := Start(Spec{Shell: []string{"/no/such/shell"}, Commands: []Command{{Host: "a", Argv: []string{"true"}}}})
	defer g.Close()
	await(t, g, "a")
	if err, _ := g.Ended("a"); err == nil || !strings.Contains(err.Error(), "/no/such/shell") {
		t.Errorf("%v", err)
	}
}

// TestCloseEndsShellsThatHang checks that Close starts no other shells.
func TestCloseEndsShellsThatHang(t *testing.T) {
	path, log := shell(t, `exec sleep 1000`)
	f := Start(Spec{Shell: []string{path}, Commands: []Command{{Host: "a"}, {Host: "b"}}, AtOnce: 1})
	late := time.Now().Add(limit)
	for b := []byte(nil); len(b) == 0 && time.Now().Before(late); b, _ = os.ReadFile(log) {
	}
	f.Close()
	if b, _ := os.ReadFile(log); string(b) != "a\n" {
		t.Errorf("started: %q", b)
	}
}

func FuzzQuote(f *testing.F) {
	f.Add("it's")
	f.Add("")
	f.Add("$(x) `y` \\ \"")
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "\x00") {
			return
		}
		out, err := exec.Command("/bin/sh", "-c", "printf %s "+Quote(text)).Output()
		if err != nil || string(out) != text {
			t.Fatalf("%q became %q, %v", text, out, err)
		}
	})
}
