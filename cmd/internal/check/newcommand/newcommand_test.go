// Package newcommand tests what it takes to add a command: a row in the table of commands, what gdb
// is told, how the answer looks, and a script.
package newcommand

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// maxFiles bounds the files that a new command may need.
const maxFiles = 4

// TestNewCommand applies a patch that adds the command "info line" to a copy of the repository. The
// command then works in the console and by JSON-RPC, help and docs/protocol.md know it, and the
// tests of the tables pass. It starts a compiler and gdbs, so -short skips it.
func TestNewCommand(t *testing.T) {
	if testing.Short() {
		return
	}
	text := read(t, "testdata/infoline.patch")
	if n := strings.Count(text, "\n+++ "); n == 0 || n > maxFiles {
		t.Fatalf("the patch changes %d files, at most %d are allowed", n, maxFiles)
	}
	r := copied(t, "../../../..")
	r.apply(text)
	r.run(".", "go", "build", "-trimpath", "-buildvcs=false", "-o", "bin/", "./cmd/sdm", "./cmd/sdm-server", "./cmd/sdm-master")
	r.run("testdata/programs", "gcc", "-g", "-O0", "-o", r.path("bin/work"), "work.c")
	r.test("Manual|Scripts", "./master/frontend/rpc", "./master/language", "-args", "-rewrite")
	r.test("", "./protocol", "./master/language", "./cmd/internal/check/oracle")

	const row = "\n| `info line` | `location` | show where the code of a line begins and ends |\n"
	if !strings.Contains(read(t, r.path("docs/protocol.md")), row) {
		t.Errorf("docs/protocol.md lacks%s", row)
	}
	if list := read(t, r.path("master/language/testdata/script/help.txt")); !strings.Contains(list, "\n  info line ") {
		t.Error("help does not list the command")
	}
	t.Run("console", r.console)
	t.Run("json-rpc", r.jsonRPC)
}

// repository is a copy of the repository with the new command.
type repository struct {
	t   *testing.T
	dir string
}

// copied copies a repository, without what was built.
func copied(t *testing.T, from string) repository {
	t.Helper()
	r := repository{t, t.TempDir()}
	entries, err := os.ReadDir(from)
	for _, e := range entries {
		path := filepath.Join(from, e.Name())
		switch {
		case err != nil || strings.HasPrefix(e.Name(), ".") || e.Name() == "bin":
		case e.IsDir():
			err = os.CopyFS(r.path(e.Name()), os.DirFS(path))
		default:
			err = os.WriteFile(r.path(e.Name()), []byte(read(t, path)), 0o600)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (r repository) path(name string) string { return filepath.Join(r.dir, name) }

// apply applies a unified diff. The context of each hunk must be in its file once.
func (r repository) apply(patch string) {
	r.t.Helper()
	for _, change := range strings.Split("\n"+patch, "\n--- ")[1:] {
		head, hunks, _ := strings.Cut(change, "\n@@")
		_, name, _ := strings.Cut(head, "\n+++ b/")
		file := r.path(name)
		text := ""
		if !strings.HasPrefix(head, "/dev/null") {
			text = read(r.t, file)
		}
		for _, hunk := range strings.Split("\n@@"+hunks, "\n@@")[1:] {
			before, after := sides(hunk)
			if before != "" && strings.Count(text, before) != 1 {
				r.t.Fatalf("%s holds this %d times:\n%s", name, strings.Count(text, before), before)
			}
			text = strings.Replace(text, before, after, 1)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			r.t.Fatal(err)
		}
	}
}

// sides returns the lines of a hunk before and after the change.
func sides(hunk string) (before, after string) {
	_, lines, _ := strings.Cut(hunk, "\n")
	for line := range strings.Lines(strings.TrimSuffix(lines, "\n") + "\n") {
		switch line[0] {
		case '+':
			after += line[1:]
		case '-':
			before += line[1:]
		case ' ':
			before, after = before+line[1:], after+line[1:]
		}
	}
	return before, after
}

// run runs a program that must not fail, in a directory of the repository.
func (r repository) run(dir, name string, args ...string) {
	r.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = r.path(dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		r.t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
}

// test runs the tests of packages that match an expression.
func (r repository) test(tests string, packages ...string) {
	r.t.Helper()
	r.run(".", "go", append([]string{"test", "-short", "-trimpath", "-buildvcs=false", "-vet=off", "-run", tests}, packages...)...)
}

// console plays the script of the patch.
func (r repository) console(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Files: []string{r.path("cmd/sdm/testdata/script/gdb/infoline.txtar")},
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("SDM_NO_RC", "true")
			e.Setenv("PATH", r.path("bin")+string(filepath.ListSeparator)+os.Getenv("PATH"))
			return os.Symlink(r.path("bin/work"), filepath.Join(e.WorkDir, "work"))
		},
	})
}

// jsonRPC calls the command as docs/protocol.md describes.
func (r repository) jsonRPC(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	master := exec.CommandContext(t.Context(), r.path("bin/sdm-master"), "--connect", "stdio", "--rendezvous", "127.0.0.1:0", "--servers", "1")
	in, _ := master.StdinPipe() // these fail only for a command that has pipes or was started
	out, _ := master.StdoutPipe()
	log, _ := master.StderrPipe()
	start(t, master)
	f := &frontEnd{t: t, in: in, out: bufio.NewReader(out)}
	f.send("initialize", map[string]any{})
	line, err := bufio.NewReader(log).ReadString('\n')
	_, rendezvous, ok := strings.Cut(strings.TrimSpace(line), "servers register at ")
	if !ok {
		t.Fatalf("the master says %q, %v", line, err)
	}
	start(t, exec.CommandContext(t.Context(), r.path("bin/sdm-server"), "--rendezvous", rendezvous, "--server", "0", "--size", "1", "--", r.path("bin/work")))
	f.until(`"result"`)
	f.send("launch", map[string]any{"job": map[string]any{}})
	f.until(`"event":"stopped"`)
	f.send("info line", map[string]any{"location": "helper"})
	if got := f.until(`"command":"info line"`); !strings.Contains(got, `"result":{"text":"Line `) {
		t.Errorf("info line: %s", got)
	}
	f.send("quit", map[string]any{})
	f.until(`"command":"quit"`)
}

// start starts a process, which is killed at the end of the test.
func start(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
}

// frontEnd speaks JSON-RPC with a master.
type frontEnd struct {
	t    *testing.T
	in   io.Writer
	out  *bufio.Reader
	last int
}

func (f *frontEnd) send(method string, params any) {
	f.t.Helper()
	f.last++
	text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": f.last, "method": method, "params": params})
	if err == nil {
		_, err = fmt.Fprintf(f.in, "Content-Length: %d\r\n\r\n%s", len(text), text)
	}
	if err != nil {
		f.t.Fatal(err)
	}
}

// until returns the first message that contains a text.
func (f *frontEnd) until(text string) string {
	f.t.Helper()
	for {
		length := 0
		for line := "-"; line != "\r\n"; {
			var err error
			if line, err = f.out.ReadString('\n'); err != nil {
				f.t.Fatalf("no message with %s: %v", text, err)
			}
			if value, ok := strings.CutPrefix(line, "Content-Length: "); ok {
				length, _ = strconv.Atoi(strings.TrimSpace(value))
			}
		}
		message := make([]byte, length)
		if _, err := io.ReadFull(f.out, message); err != nil || strings.Contains(string(message), `"error":{`) {
			f.t.Fatalf("%v: %s", err, message)
		}
		if strings.Contains(string(message), text) {
			return string(message)
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
