package probe

import (
	"strings"
	"testing"

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
