package gdb_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sdm/backend/gdb"
	"sdm/protocol"
)

// buildLarge compiles a C++ program of several files with much debug information.
func buildLarge(t testing.TB) string {
	t.Helper()
	const files, types = 6, 600
	dir := t.TempDir()
	out := filepath.Join(dir, "large")
	args := []string{"-g", "-O0", "-fno-eliminate-unused-debug-types", "-Wl,--build-id", "-o", out}
	for f := range files {
		var b strings.Builder
		for i := range types {
			fmt.Fprintf(&b, "namespace part%d { struct type%d { int a; double b; type%[2]d *next; int twice%[2]d(int x) { int y = x + a; return 2 * y; } }; }\n", f, i)
		}
		fmt.Fprintf(&b, "int part_%d(int n) { part%[1]d::type7 t = {n, 2.5, 0}; return t.twice7(n); }\n", f)
		if f == 0 {
			for i := range files {
				fmt.Fprintf(&b, "extern int part_%d(int);\n", i)
			}
			b.WriteString("int main() { return part_0(1) + part_5(2) > 1000; }\n")
		}
		name := filepath.Join(dir, fmt.Sprintf("part%d.cc", f))
		if err := os.WriteFile(name, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, name)
	}
	if b, err := exec.Command("g++", args...).CombinedOutput(); err != nil {
		t.Fatalf("g++: %v\n%s", err, b)
	}
	return out
}

// TestIndexCache checks that the first gdb writes an index of a program, and that the
// next ones use it with the same results.
func TestIndexCache(t *testing.T) {
	program := buildLarge(t)
	cache := filepath.Join(t.TempDir(), "cache")
	if err := os.Mkdir(cache, 0o700); err != nil {
		t.Fatal(err)
	}
	const none = "Cache hits (this session): 0"
	var first string
	for round := range 2 {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			r := newRig(t, gdb.Config{IndexCache: cache, RanksPerGDB: 2})
			r.launch(program, 2)
			if got := text(t, r.ok("gdb", protocol.Args{Text: "show index-cache stats"})); strings.Contains(got, none) != (round == 0) {
				t.Errorf("round %d: %q", round, got)
			}
			r.ok("break", protocol.Args{Location: "part5::type7::twice7", Breakpoint: 1})
			r.ok("continue", protocol.Args{})
			r.stop()
			seen := text(t, r.ok("ptype", protocol.Args{Expr: "*this"})) + r.value("*this") + r.ok("backtrace", protocol.Args{}).String()
			if first == "" {
				first = seen
			}
			if seen != first || !strings.Contains(seen, "double b;") || !strings.Contains(seen, "part_5") {
				t.Errorf("got %s, without the cache %s", seen, first)
			}
		})
	}
	files, err := filepath.Glob(filepath.Join(cache, "*.gdb-index"))
	if err != nil || len(files) == 0 {
		t.Errorf("the cache holds %v, %v", files, err)
	}
}
