package sampler

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"sdm/backend/probe/internal/argument"
	"sdm/backend/probe/internal/snapshot"
)

// TestArguments looks for the arguments of functions that make it hard (testdata/arguments.c). None may be
// wrong; leastKnown are found at each optimisation, of 64.
func TestArguments(t *testing.T) {
	const variants, arguments = 8, 8
	for flags, leastKnown := range map[string]int{"-O0": 60, "-O1": 35, "-O2": 34, "-O3": 34, "-O2 -fno-omit-frame-pointer": 35, "-Os": 35} {
		t.Run(flags, func(t *testing.T) {
			t.Parallel()
			program := filepath.Join(t.TempDir(), "arguments")
			if out, err := exec.Command("gcc", append(strings.Fields(flags), "-o", program, "testdata/arguments.c")...).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			known := 0
			for variant := 1; variant <= variants; variant++ {
				p := exec.Command(program, strconv.Itoa(variant))
				if err := p.Start(); err != nil {
					t.Fatal(err)
				}
				for n, v := range argumentsOf(t, p.Process.Pid, variant, arguments) {
					switch want := uint64(1000*variant + n); {
					case v.Known && v.Bits != want:
						t.Errorf("argument %d of target_%d is %d (grade %d)", n, variant, int64(v.Bits), v.Grade)
					case v.Known:
						known++
					}
				}
				_ = p.Process.Kill()
				_ = p.Wait()
			}
			if t.Logf("%d known", known); known < leastKnown {
				t.Errorf("%d of %d arguments are known", known, variants*arguments)
			}
		})
	}
}

// argumentsOf returns the arguments of the target of a variant, when the program waits in it.
func argumentsOf(t *testing.T, pid, variant, arguments int) (all []argument.Value) {
	t.Helper()
	name := fmt.Sprintf("target_%d", variant)
	var kept argument.Cache
	var s *snapshot.Process
	for end := time.Now().Add(patience); ; {
		s = snapshots(t, New(""), []int{pid})[0]
		if len(s.Threads) == 1 && strings.Contains(functionsOf(s, &kept), "wait_here") {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("target_%d does not wait", variant)
		}
	}
	f := kept.New(s, &s.Threads[0])
	for i := range f.Frames() {
		called := i+1 < f.Frames() && f.CalledName(i+1) == name
		symbol, _ := f.Function(i)
		if own := symbol == name; own || called {
			call := f.Call(i, own, called)
			for n := range arguments {
				all = append(all, call.Argument(n, 64))
			}
			return all
		}
	}
	return nil // a jump has left no trace of it
}

func functionsOf(s *snapshot.Process, kept *argument.Cache) string {
	var names []string
	f := kept.New(s, &s.Threads[0])
	for i := range f.Frames() {
		symbol, _ := f.Function(i)
		names = append(names, symbol)
	}
	return strings.Join(names, " ")
}
