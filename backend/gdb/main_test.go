package gdb_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"sdm/backend"
	"sdm/backend/gdb"
	"sdm/backend/tape"
	"sdm/launch/local"
	"sdm/protocol"
	"sdm/protocol/rank"
)

var scratch string // directory for compiled programs

func TestMain(m *testing.M) {
	tape.Main()
	local.ShimMain(os.Args)
	if pid, err := strconv.Atoi(os.Getenv(attachVariable)); err == nil {
		attachAndWait(pid)
	}
	dir, err := os.MkdirTemp("", "sdm-gdb-test")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	scratch = dir
	code := m.Run()
	os.RemoveAll(dir)
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// attachVariable makes this program attach to a process, resume it with a breakpoint in
// it, and wait to be killed.
const attachVariable = "GDB_TEST_ATTACH"

func attachAndWait(pid int) {
	sink := newRecorder()
	e, err := gdb.New(gdb.Config{}, sink)
	if err != nil {
		os.Exit(1)
	}
	e.Attach(1, []backend.Target{{Rank: 0, PID: pid}}, "", 0)
	stopped := sink.until(patience, func(all []told) bool { return len(all) == 2 })
	never := protocol.Args{Location: "calls.c:21", Condition: "turns < 0"}
	for i, c := range []protocol.Command{{Name: "break", Args: never}, {Name: "continue"}} {
		e.Do(backend.Request{ID: protocol.RequestID(2 + i), Ranks: rank.Of(0), Command: &c})
	}
	if !stopped || !sink.until(patience, func(all []told) bool { return len(all) == 5 }) {
		fmt.Print(sink.transcript())
		os.Exit(1)
	}
	fmt.Println("running")
	select {}
}

var built struct {
	sync.Mutex
	done map[string]string
}

// build compiles a program of testdata once; flags that begin with - are the
// compiler's, "mpicc.openmpi" and "strip" are special.
func build(t testing.TB, source string, flags ...string) string {
	t.Helper()
	built.Lock()
	defer built.Unlock()
	key := source + " " + strings.Join(flags, " ")
	if out, ok := built.done[key]; ok {
		return out
	}
	path := filepath.Join("testdata", source)
	if _, err := os.Stat(path); err != nil {
		path = filepath.Join("..", "..", "testdata", "programs", source)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(scratch, strings.TrimSuffix(source, ".c")+fmt.Sprint(len(built.done)))
	compiler, args := "gcc", []string{"-g", "-O0", "-pthread", "-o", out, path}
	for _, f := range flags {
		switch {
		case strings.HasPrefix(f, "-"):
			args = append(args, f)
		case f == "strip":
			args = append(args, "-s")
		default:
			compiler = f
		}
	}
	if b, err := exec.Command(compiler, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", compiler, err, b)
	}
	if built.done == nil {
		built.done = map[string]string{}
	}
	built.done[key] = out
	return out
}

// LineOf returns the line of a source that contains a text.
func lineOf(t testing.TB, source, text string) int {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", source))
	if err != nil {
		b, err = os.ReadFile(filepath.Join("..", "..", "testdata", "programs", source))
	}
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range strings.Split(string(b), "\n") {
		if strings.Contains(l, text) {
			return i + 1
		}
	}
	t.Fatalf("%s holds no %q", source, text)
	return 0
}
