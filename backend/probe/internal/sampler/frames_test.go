package sampler

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"sdm/backend/probe/internal/python"
	"sdm/backend/probe/internal/splice"
	"sdm/backend/probe/internal/unwind"
	"sdm/protocol/stack"
)

func TestNamelessLeaves(t *testing.T) {
	for list, want := range map[string]string{
		"??/libc ??/libc poll/libc main": "poll/libc main",
		"??/vdso ??/libc poll/libc main": "??/vdso poll/libc main",
		"poll/libc main":                 "poll/libc main",
		"poll/libc ??/libc main":         "poll/libc ??/libc main",
		"?? ?? main":                     "?? main",
		"?? ?? f/library main":           "?? f/library main",
		"??/libc ??/libc":                "??/libc ??/libc",
	} {
		var levels []level
		for _, f := range strings.Fields(list) {
			name, library, _ := strings.Cut(f, "/")
			levels = append(levels, level{Frame: stack.Frame{Func: name}, library: library})
		}
		var got []string
		for _, l := range namedLeaf(levels) {
			got = append(got, strings.TrimSuffix(l.Func+"/"+l.library, "/"))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %s, want %s", list, strings.Join(got, " "), want)
		}
	}
}

// TestDoubt checks where it is said that frames may be missing: once for each row of frames whose callers were
// not found by tables or code.
func TestDoubt(t *testing.T) {
	for ways, want := range map[string]string{
		"tables code tables":      "0 0 0",
		"tables pointer tables":   "0 1 0",
		"pointer pointer tables":  "0 1 0",
		"pointer search pointer":  "0 0 1",
		"search tables pointer":   "1 0 1",
		"tables pointer, no more": "0 0",
	} {
		var frames []unwind.Frame
		list, _, cut := strings.Cut(ways, ",")
		for way := range strings.FieldsSeq(list) {
			how := slices.Index([]string{"tables", "code", "pointer", "search"}, way)
			frames = append(frames, unwind.Frame{How: unwind.How(how), CFA: 1})
		}
		if cut {
			frames[len(frames)-1].CFA = 0
		}
		var got []string
		for i := range frames {
			levels := (&process{}).doubt(frames, i)
			got = append(got, strconv.Itoa(len(levels)))
			if len(levels) == 1 && levels[0].Func != "(frames may be missing: no unwind tables in memory of no file)" {
				t.Error(levels[0].Func)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %s, want %s", ways, got, want)
		}
	}
}

// TestRunsOfFrames folds equal frames in sequence of a stack that is too deep to be shown as a whole, and no others.
func TestRunsOfFrames(t *testing.T) {
	stackOf := func(depth int) (frames []splice.Frame, native []unwind.Frame) {
		python := func(line int) splice.Frame { return splice.Frame{Python: &python.Frame{Function: "f", Line: line}} }
		pcs := []uint64{7, 8, 8} // two equal ones are too few
		for range depth {
			pcs = append(pcs, 9)
		}
		for _, pc := range append(pcs, 10, 9) {
			frames, native = append(frames, splice.Frame{Native: len(native)}), append(native, unwind.Frame{PC: pc})
		}
		return append(frames, python(1), python(2), python(2), python(2), splice.Frame{Native: splice.CutHere}), native
	}
	frames, native := stackOf(1000)
	want := []frameRun{{0, 1}, {1, 1}, {3, 1000}, {1003, 1}, {1004, 1}, {1005, 1}, {1006, 3}, {1009, 1}}
	got := runsOfFrames(frames, native)
	if got = slices.DeleteFunc(got, func(r frameRun) bool { return r.at == 2 }); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	frames, native = stackOf(100)
	if got := runsOfFrames(frames, native); len(got) != len(frames) {
		t.Errorf("%d runs of %d frames", len(got), len(frames))
	}
}
