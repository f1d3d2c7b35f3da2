package probe

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"sdm/backend/probe/unwind"
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
