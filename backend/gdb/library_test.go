package gdb_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sdm/backend/gdb"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// splitLibrary makes a program with a library whose debug information is in a separate
// file, in a directory of debug files.
func splitLibrary(t *testing.T) (program, debugFiles string) {
	t.Helper()
	dir := t.TempDir()
	debugFiles = filepath.Join(dir, "debug")
	library := filepath.Join(dir, "libsplit.so")
	program = filepath.Join(dir, "program")
	for name, text := range map[string]string{
		"split.c":   "int inside(int n)\n{\n    int twice = 2 * n;\n    return twice + 1;\n}\n",
		"program.c": "extern int inside(int);\nint main(void)\n{\n    return inside(3) - 7;\n}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(debugFiles, ".build-id", "5d"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][]string{
		{"gcc", "-g", "-O0", "-fPIC", "-shared", "-Wl,--build-id=0x5d6d", "-o", library, filepath.Join(dir, "split.c")},
		{"gcc", "-g", "-O0", "-o", program, filepath.Join(dir, "program.c"), library, "-Wl,-rpath," + dir},
		{"objcopy", "--only-keep-debug", library, filepath.Join(debugFiles, ".build-id", "5d", "6d.debug")},
		{"strip", "-g", library},
	} {
		if b, err := exec.Command(c[0], c[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", c, err, b)
		}
	}
	return program, debugFiles
}

// TestLibrariesOnDemand checks that names of functions in libraries are always known,
// and lines and types after sharedlibrary on the ranks that execute it. Before and
// afterwards no separate debug file is searched for.
func TestLibrariesOnDemand(t *testing.T) {
	program, debugFiles := splitLibrary(t)
	r := newRig(t, gdb.Config{RanksPerGDB: 2, Args: []string{"-iex", `set $_sdm_debug_files = "` + debugFiles + `"`}})
	r.launch(program, 2)
	ask := func(name string, args protocol.Args) {
		for _, g := range r.answers(r.send(2, name, args, patience), 2) {
			if g.Kind != protocol.KindResult {
				t.Fatalf("%s: %v", name, g)
			}
		}
	}
	ask("break", protocol.Args{Location: "inside", Breakpoint: 1})
	ask("continue", protocol.Args{})
	for id := range 2 {
		var s protocol.Stop
		json.Unmarshal(r.await(rank.ID(id), protocol.KindStopped).Body, &s)
		if s.Frame == nil || s.Frame.Func != "inside" || s.Frame.Line != 0 || filepath.Base(s.Frame.From) != "libsplit.so" {
			t.Fatalf("rank %d stopped at %+v", id, s.Frame)
		}
	}
	r.fault("sharedlibrary", protocol.Args{Expr: "nosuch"}, protocol.FaultGDB, "No loaded shared libraries match")
	r.fault("sharedlibrary", protocol.Args{Expr: "["}, protocol.FaultGDB, "Invalid regexp")
	r.fault("sharedlibrary", protocol.Args{Expr: "a b"}, protocol.FaultUsage, "no pattern")

	var body struct {
		Libraries []struct {
			Name           string
			Symbols, Lines bool
		}
	}
	json.Unmarshal(r.ok("sharedlibrary", protocol.Args{Expr: "split"}).Body, &body)
	if len(body.Libraries) != 1 || !body.Libraries[0].Lines || !body.Libraries[0].Symbols {
		t.Errorf("got %+v", body)
	}
	trace := func(g protocol.Group) []protocol.Frame {
		var b struct{ Frames []protocol.Frame }
		json.Unmarshal(g.Body, &b)
		if len(b.Frames) != 2 || b.Frames[0].Func != "inside" || b.Frames[1].Line != 4 {
			t.Fatalf("got %v", g)
		}
		return b.Frames
	}
	if f := trace(r.ok("backtrace", protocol.Args{}))[0]; filepath.Base(f.File) != "split.c" || f.Line < 2 {
		t.Errorf("with lines: %+v", f)
	}
	if f := trace(r.one(1, "backtrace", protocol.Args{}))[0]; f.Line != 0 {
		t.Errorf("rank 1 has not asked: %+v", f)
	}
	// it has moved to the first line after the prologue
	r.ok("delete", protocol.Args{Breakpoints: []int{1}})
	r.ok("break", protocol.Args{Location: "split.c:4", Breakpoint: 2})
	r.ok("continue", protocol.Args{})
	if s := r.stop(); s.Frame.Line != 4 || s.Breakpoint != 2 {
		t.Errorf("stopped at %+v", s.Frame)
	}
	if v := r.value("twice"); v != "6" {
		t.Errorf("twice = %s", v)
	}
	// A request for other libraries keeps them.
	json.Unmarshal(r.ok("sharedlibrary", protocol.Args{Expr: "libc"}).Body, &body)
	if v := r.value("twice"); v != "6" {
		t.Errorf("twice = %s", v)
	}
	if got := text(t, r.ok("gdb", protocol.Args{Text: "show debug-file-directory"})); !strings.Contains(got, "/nonexistent") {
		t.Errorf("got %q", got)
	}
	r.ok("delete", protocol.Args{})
	r.ok("continue", protocol.Args{})
	r.await(0, protocol.KindExited)
}
