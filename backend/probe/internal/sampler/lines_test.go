package sampler

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// inlining is a program whose functions are inlined in one another, in a namespace and a class.
const inlining = `
#include <unistd.h>
static volatile int sink;
namespace deep {
struct Solver {
	int n;
	__attribute__((always_inline)) inline int step(int k)
	{
		write(1, "r", 1);
		for (;;)
			pause();
		return k + n;
	}
	__attribute__((noinline)) int run(int k);
};
static __attribute__((always_inline)) inline int twice(Solver &s, int k)
{
	sink = k;
	return s.step(k) * 2;
}
int Solver::run(int k)
{
	int r = twice(*this, k);
	sink = r;
	return r;
}
}
int main()
{
	deep::Solver s{3};
	int r = s.run(2);
	sink = r;
	return r;
}
`

// lineByGDB is a frame with a line in gdb's backtrace.
var lineByGDB = regexp.MustCompile(`(?m)^#\d+ +(?:0x[0-9a-f]+ in )?([^ (]+) .* at (\S+):(\d+)$`)

func TestLinesAsGDBShowsThem(t *testing.T) {
	for _, flags := range [][]string{{"-g", "-O0"}, {"-g", "-O2"}, {"-g", "-O3", "-gdwarf-4"}, {"-g", "-O2", "-gz", "-ffunction-sections"}} {
		t.Run(strings.Join(flags, " "), func(t *testing.T) {
			p := startSource(t, "c++", inlining, flags...)
			p.stands(t, "line", func(all []string) bool { return len(all) == 1 && in("pause")(all[0]) })
			out, err := exec.Command("gdb", "-nx", "-batch", "-ex", "backtrace", "-p", strconv.Itoa(p.Process.Pid)).Output()
			if err != nil {
				t.Fatal(err)
			}
			var want, got []string
			for _, m := range lineByGDB.FindAllStringSubmatch(string(out), -1) {
				if !strings.Contains(m[2], "/") { // of this program, not of the C library
					want = append(want, strings.Join(m[1:], " "))
				}
			}
			for _, f := range slices.Backward(New("").Take([]int{p.Process.Pid}, Options{By: "line", AllThreads: true}).Samples[0].Threads[0]) {
				if f.Line != 0 {
					got = append(got, fmt.Sprint(f.Func, " ", f.File, " ", f.Line))
				}
			}
			if len(want) != 4 || !slices.Equal(got, want) {
				t.Errorf("got\n%s\ngdb shows\n%s\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"), out)
			}
		})
	}
}

// nested is a program with a function within another one, as Fortran has them.
const nested = `
#include <unistd.h>
static volatile int sink;
int main(void)
{
	int n = 1;
	__attribute__((noinline)) void inner(int k)
	{
		sink = n + k;
		write(1, "r", 1);
		for (;;)
			pause();
	}
	inner(2);
	return sink;
}
`

func TestFunctionWithinFunction(t *testing.T) {
	p := startSource(t, "c", nested, "-g", "-O1")
	p.stands(t, "function", func(all []string) bool { return len(all) == 1 && in("pause")(all[0]) })
	var got []string
	for _, f := range New("").Take([]int{p.Process.Pid}, Options{By: "line", AllThreads: true}).Samples[0].Threads[0] {
		if f.Line != 0 && f.Func == "inner" {
			got = append(got, fmt.Sprint(f.Func, " ", f.Line))
		}
	}
	if !slices.Equal(got, []string{"inner 12"}) {
		t.Error(got)
	}
}

// startSource compiles a program and starts it. It returns when the program has written r.
func startSource(t *testing.T, language, text string, flags ...string) target {
	t.Helper()
	path := filepath.Join(t.TempDir(), "waits")
	cc := exec.Command("gcc", append(flags, "-pthread", "-o", path, "-x", language, "-")...)
	cc.Stdin = strings.NewReader(text)
	if text, err := cc.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return run(t, path)
}

// TestLinesInOtherFiles has programs whose debug information is beside them: in a file to which they have a link, with
// a build-id and without, also in .debug, and in objects (-gsplit-dwarf), of which the lines are in the program. A file
// that is not the one the program was built from is not read.
func TestLinesInOtherFiles(t *testing.T) {
	all := []string{"main 31", "deep::Solver::run 23", "deep::twice 19", "deep::Solver::step 11"}
	for _, c := range []struct {
		name, flags string
		separate    string // path of the separate file; "": there is none
		spoil       bool
		want        []string
	}{
		{"link", "-g", "waits.debug", false, all},
		{"link without build-id", "-g -Wl,--build-id=none", "waits.debug", false, all},
		{"link in .debug", "-g", ".debug/waits.debug", false, all},
		{"another file", "-g -Wl,--build-id=none", "waits.debug", true, nil},
		{"split, DWARF 5", "-gdwarf-5 -gsplit-dwarf", "", false, []string{"main 31", "deep::Solver::run 11"}},
		{"split, DWARF 4", "-gdwarf-4 -gsplit-dwarf", "", false, []string{"main 31", "deep::Solver::run 11"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			program := valued{compiler: "g++", files: []string{"waits.cc", inlining}}
			path := program.compile(t, append(strings.Fields(c.flags), "-O2")...)
			if c.separate != "" {
				file := filepath.Join(filepath.Dir(path), c.separate)
				script := `mkdir -p "$(dirname "$2")" && objcopy --only-keep-debug "$1" "$2" && strip -g "$1" && objcopy --add-gnu-debuglink="$2" "$1"`
				if c.spoil {
					script += ` && echo >>"$2"`
				}
				if out, err := exec.Command("sh", "-c", script, "sh", path, file).CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
			}
			p := run(t, path)
			p.stands(t, "line", func(all []string) bool { return len(all) == 1 && in("pause")(all[0]) })
			var got []string
			for _, f := range New("").Take([]int{p.Process.Pid}, Options{By: "line", AllThreads: true}).Samples[0].Threads[0] {
				if f.Line != 0 {
					got = append(got, fmt.Sprint(f.Func, " ", f.Line))
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
