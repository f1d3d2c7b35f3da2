package values

import (
	"bufio"
	"maps"
	"os"
	"strings"
	"testing"

	"sdm/backend/mi/mitest"
	"sdm/protocol/stack"
)

// recorded reads gdb's recorded output about a process: its libraries, and the stacks
// of threads by number.
func recorded(t *testing.T, name, program string) (objects, map[string][]Frame) {
	t.Helper()
	f, err := os.Open("testdata/threads/" + name + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var o objects
	stacks := map[string][]Frame{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		what, record, _ := strings.Cut(lines.Text(), " ^")
		results := mitest.Record("1^" + record).Results
		if n, ok := strings.CutPrefix(what, "thread "); ok {
			stacks[n] = FramesIn(results)
		} else {
			o = objectsOf(program, results)
		}
	}
	if lines.Err() != nil || len(o.libraries) == 0 || len(stacks) == 0 {
		t.Fatalf("%d libraries, %d threads, error %v", len(o.libraries), len(stacks), lines.Err())
	}
	return o, stacks
}

// TestHelpersOfRuntimes uses stacks of processes under Open MPI 4 and MPICH with
// OpenMP, whose pool is idle, and of Python.
func TestHelpersOfRuntimes(t *testing.T) {
	for name, c := range map[string]struct {
		program string
		want    map[string]string // helper threads, and their start functions
	}{
		"openmpi":          {"/home/u/app/idle.ompi", map[string]string{"2": "?? libopen-pal.so.40", "3": "?? libpmix.so.2", "5": "?? libgomp.so.1", "6": "?? libgomp.so.1"}},
		"openmpi-libc-dbg": {"/home/u/app/idle.ompi", map[string]string{"2": "?? libopen-pal.so.40", "3": "?? libpmix.so.2", "5": "?? libgomp.so.1", "6": "?? libgomp.so.1"}},
		// the OpenMP team is in a parallel region
		"mpich":  {"/home/u/app/idle.mpich", map[string]string{"2": "?? libucs.so.0"}},
		"python": {"/usr/bin/python3.11", map[string]string{"2": "?? libopen-pal.so.40", "3": "?? libpmix.so.2"}},
	} {
		t.Run(name, func(t *testing.T) {
			o, stacks := recorded(t, name, c.program)
			got := map[string]string{}
			for n, frames := range stacks {
				if f, ok := o.helper(frames); ok {
					got[n] = f.Func + " " + f.From[strings.LastIndex(f.From, "/")+1:]
				}
			}
			if !maps.Equal(got, c.want) {
				t.Errorf("helpers are %v, want %v", got, c.want)
			}
		})
	}
}

// stackText makes frames of "FUNCTION LIBRARY", "FUNCTION FILE@ADDRESS" or "FUNCTION",
// innermost first.
func stackText(text string) (frames []Frame) {
	for _, line := range strings.Split(text, ", ") {
		name, place, _ := strings.Cut(line, " ")
		f := Frame{Addr: "0x100"}
		f.Func = name
		if file, addr, ok := strings.Cut(place, "@"); ok {
			f.File, f.Line, f.Addr = file, 7, addr
		} else {
			f.library, f.From = place, place
		}
		if name == "0" {
			f.Func, f.Addr = "??", "0x0000000000000000"
		}
		frames = append(frames, f)
	}
	return frames
}

func TestHelperThreads(t *testing.T) {
	const libraries = `1^done,shared-libraries=[` +
		`{target-name="/opt/mpi/lib/libmpi.so.40",ranges=[{from="0x1000",to="0x2000"}]},` +
		`{target-name="/opt/mpi/lib/libopen-pal.so.80",ranges=[{from="0x2000",to="0x3000"}]},` +
		`{target-name="/opt/mpi/lib/openmpi/mca_btl_tcp.so",ranges=[{from="0x3000",to="0x4000"}]},` +
		`{target-name="/opt/solver/lib/libsolver.so",ranges=[{from="0x4000",to="0x5000"}]},` +
		`{target-name="/opt/ucx/lib/libucs.so.0",ranges=[{from="0x5000",to="0x6000"}]}]`
	o := objectsOf("/home/u/app/bin/heat", mitest.Record(libraries).Results)
	start := ", start_thread pthread_create.c@0x9000, clone3 clone3.S@0x9001"
	for text, want := range map[string]string{
		"poll /lib/x/libc.so.6, progress_engine opal.c@0x2100" + start:                             "progress_engine /opt/mpi/lib/libopen-pal.so.80",
		"btl_thread btl.c@0x3100" + start:                                                          "btl_thread /opt/mpi/lib/openmpi/mca_btl_tcp.so",
		"epoll_wait /lib/libc.so.6, ucs_async a.c@0x5100" + start:                                  "ucs_async /opt/ucx/lib/libucs.so.0",
		"?? /lib/libc.so.6, ?? /opt/cuda/lib64/libcuda.so.1, ?? /lib/libc.so.6, 0":                 "?? /opt/cuda/lib64/libcuda.so.1",
		"?? /lib/libc.so.6, worker /opt/x/libpool.so, ?? /lib/libpthread.so.0, clone /lib/libc.so": "worker /opt/x/libpool.so",
		"clock_gettime , spin /lib/libfoo.so" + start:                                              "spin /lib/libfoo.so",
		// a library of the user
		"worker solver.c@0x4100" + start: "",
		"poll /lib/libc.so.6, callback heat.c@0x10, progress_engine opal.c@0x2100" + start: "", // called back
		"worker /home/u/app/lib/libown.so" + start:                                         "", // beside the program
		"worker " + start:             "", // the program, without lines
		"poll /lib/libc.so.6" + start: "", // only libc: the thread has not reached its function yet
		"kernel /opt/x/libblas.so, 0": "", // gdb cannot unwind to its start
		"poll /lib/libc.so.6, PMPI_Init /opt/mpi/lib/libmpi.so.40, main heat.c@0x10":                                                        "",
		"_PyEval_EvalFrameDefault /usr/lib/libpython3.11.so.1.0, ?? /usr/lib/libpython3.11.so.1.0, ?? /lib/libc.so.6, clone /lib/libc.so.6": "",
		"start_thread pthread_create.c@0x9000, clone3 clone3.S@0x9001":                                                                      "",
	} {
		f, ok := o.helper(stackText(text))
		got := ""
		if ok {
			got = f.Func + " " + f.From
		}
		if got != want {
			t.Errorf("%s\nis %q, want %q", text, got, want)
		}
	}
	if _, ok := o.helper(nil); ok {
		t.Error("no stack at all is taken for the stack of a helper")
	}
}

// TestNamelessLeaves checks that the number and place of frames without names make no
// difference.
func TestNamelessLeaves(t *testing.T) {
	for text, want := range map[string]string{
		"?? libc, ?? libc, ?? libc, poll libc, main":      "poll libc, main",
		"?? libc, poll libc, main":                        "poll libc, main",
		"poll libc, ?? libc, main":                        "poll libc, ?? libc, main",
		"?? libc, ?? libc, ?? libgomp, ?? libgomp, sweep": "?? libc, ?? libgomp, sweep",
		"??, ??, main":                                    "??, main", // code in no file
		"?? libc, ?? libc":                                "?? libc, ?? libc",
		"main":                                            "main",
	} {
		var got []string
		for _, f := range namedLeaf(stackText(text)) {
			got = append(got, strings.TrimSpace(f.Func+" "+f.library))
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s becomes %s, want %s", text, strings.Join(got, ", "), want)
		}
	}
}

// TestStackFrames checks the frames in the tree, outermost first. Addresses and crashes
// are shown unchanged.
func TestStackFrames(t *testing.T) {
	frames := stackText("?? /lib/libc.so.6, ?? /lib/libc.so.6, poll /lib/libc.so.6, main a.c@0x10")
	for i := range frames {
		frames[i].Level = i
	}
	for name, c := range map[string]struct {
		stack threadStack
		by    string
		want  []stack.Frame
	}{
		"line": {threadStack{frames: frames}, "line", []stack.Frame{{Func: "main", File: "a.c", Line: 7}, {Func: "poll", From: "/lib/libc.so.6"}}},
		"start of a thread": {threadStack{frames: stackText("poll /lib/libc.so.6, work a.c@0x10, ?? /lib/libc.so.6, ?? /lib/libc.so.6")}, "line",
			[]stack.Frame{{Func: "work", File: "a.c", Line: 7}, {Func: "poll", From: "/lib/libc.so.6"}}},
		"function": {threadStack{frames: frames}, "function", []stack.Frame{{Func: "main"}, {Func: "poll", From: "/lib/libc.so.6"}}},
	} {
		if got := stackFrames(c.stack, c.by); len(got) != len(c.want) || got[0] != c.want[0] || got[1] != c.want[1] {
			t.Errorf("%s: %v", name, got)
		}
	}
	if got := stackFrames(threadStack{frames: frames, signal: "SIGABRT"}, "line"); len(got) != 4 || got[3].Mark != "SIGABRT" {
		t.Errorf("a crash: %v", got)
	}
	if got := stackFrames(threadStack{frames: frames}, "address"); len(got) != 4 || got[3].Addr != "0x100" {
		t.Errorf("by address: %v", got)
	}
}

func TestFirstNamed(t *testing.T) {
	r := mitest.Record(`1^done,stack=[frame={level="0",addr="0x1",func="??",from="/lib/libc.so.6"},frame={level="1",addr="0x2",func="??"},frame={level="2",addr="0x3",func="poll",from="/lib/libc.so.6"}]`).Results
	v, ok := firstNamed(r.Path("stack").Fields)
	if f := FrameOf(v.Fields); !ok || f.Func != "poll" || f.Level != 0 || f.Addr != "0x3" {
		t.Errorf("%+v, %v", f, ok)
	}
	if _, ok := firstNamed(nil); ok {
		t.Error("a name without frames")
	}
	if first := FrameOf(r.Path("stack").Fields[2].Value.Fields); first.Level != 2 {
		t.Errorf("gdb's own record has changed: %+v", first)
	}
}
