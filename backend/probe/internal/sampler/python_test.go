package sampler

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sdm/protocol/stack"
)

var pythonPath = flag.String("python", "/usr/bin/python3", "interpreter of Python for TestBusyPython")

// busyPython never waits: threads call and return without end, through generators, code objects that live
// shortly, C, and classes. Each function is called by the one above it only.
const busyPython = `
import sys, threading
sys.setswitchinterval(0.0001)
class A:
    def __init__(self):
        self.x = [i for i in leaf(3)]
def leaf(n):
    for i in range(n):
        yield inner(i)
def inner(i):
    return sum(sorted([3, 2, 1], key=key)) + i
def key(x):
    return -x
def short():
    return eval("(lambda: inner(1))()")
def work():
    while True:
        A()
        short()
for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
print("r", end="", flush=True)
work()
`

// above are the functions that may stand above one, and of which qualified names are not needed.
var above = map[string][]string{
	"work": {"<module>", "run"}, "__init__": {"work"}, "<listcomp>": {"__init__"}, "leaf": {"__init__", "<listcomp>"},
	"inner": {"leaf", "<lambda>"}, "key": {"inner"}, "short": {"work"}, "<module>": {"short"}, "<lambda>": {"<module>"},
}

// TestBusyPython takes stacks at random instants: no frame is lost, and each stands below one that calls
// it.
func TestBusyPython(t *testing.T) {
	if _, err := os.Stat(*pythonPath); err != nil {
		t.Skip("this machine has no Python: ", err)
	}
	path := filepath.Join(t.TempDir(), "busy.py")
	if err := os.WriteFile(path, []byte(busyPython), 0o600); err != nil {
		t.Fatal(err)
	}
	p := run(t, *pythonPath, path)
	c := New("")
	read := 0
	for n := range 200 {
		s := c.Take([]int{p.Process.Pid}, Options{By: "line"}).Samples[0]
		if len(s.Threads) != 4 || s.Unknown != "" {
			t.Fatalf("%d threads, %v, %s", len(s.Threads), s.Err, s.Unknown)
		}
		for _, frames := range s.Threads {
			switch why := wrongBusy(frames); {
			case strings.HasPrefix(frames[0].Func, "(thread not read: did not stop"): // on a machine with too much to do
			case why != "":
				t.Fatalf("sample %d: %s: %v", n, why, frames)
			default:
				read++
			}
		}
	}
	if read < 400 {
		t.Errorf("%d of 800 stacks were read", read)
	}
}

// wrongBusy says what cannot be in a stack of the program.
func wrongBusy(frames []stack.Frame) string {
	before := ""
	seen := 0
	for _, f := range frames {
		name := f.Func[strings.LastIndexByte(f.Func, '.')+1:]
		if strings.HasPrefix(f.Func, "(") {
			return "a frame is missing"
		}
		if filepath.Base(f.File) != "busy.py" && f.File != "<string>" {
			continue
		}
		if seen++; seen == 1 {
			before = "run"
		}
		if ok := name == "<module>" && seen == 1; !ok && !strings.Contains(" "+strings.Join(above[name], " ")+" ", " "+before+" ") {
			return fmt.Sprintf("%s called %s", before, name)
		}
		before = name
	}
	if seen == 0 {
		return "no frames of the program"
	}
	return ""
}
