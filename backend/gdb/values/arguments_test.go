package values

import (
	"slices"
	"testing"

	"sdm/backend/gdb/gdbtext"
)

func TestArgumentsOfShownFrames(t *testing.T) {
	at := Frame{}
	at.Level, at.Func, at.File, at.Line = 3, "run<int>(int)", "a b.cc", 7
	for _, test := range []struct {
		line  string
		names []string
		value []string
	}{
		{`#3  run<int>(int) () at a b.cc:7`, nil, nil},
		{`#3  0x00005 in run<int>(int) (n=5, text=0x1 "a, b=5) at a b.cc:7", c=44 ',') at a b.cc:7`, []string{"n", "text", "c"}, []string{"5", `0x1 "a, b=5) at a b.cc:7"`, "44 ','"}},
		{`#3  run<int>(int) (n=n@entry=5, m=1, m@entry=2) at a b.cc:7`, []string{"n", "n@entry", "m", "m@entry"}, []string{"5", "5", "1", "2"}},
		{`#3  run<int>(int) (a=<error reading variable: can't compute CFA, b=1>, c='it''s, d=3') at a b.cc:7`, []string{"a", "c"}, []string{"<error reading variable: can't compute CFA, b=1>", "'it''s, d=3'"}},
		{`#3  run<int>(int) (v=std::vector of length 2, capacity 2 = {...}, fp=0x5 <f(int, char const*)>, z=(1,2)) at a b.cc:7`, []string{"v", "fp", "z"}, []string{"std::vector of length 2, capacity 2 = {...}", "0x5 <f(int, char const*)>", "(1,2)"}},
		{`#3  run<int>(int) (q=39 '\'', r=34 '"', s="\", t=1") at a b.cc:7`, []string{"q", "r", "s"}, []string{`39 '\''`, `34 '"'`, `"\", t=1"`}},
		{`#3  run<int>(int) (...) at a b.cc:7`, []string{"..."}, []string{""}},
		{`#3  <signal handler called>`, nil, nil},
		{`#2  run<int>(int) (n=5) at a b.cc:7`, nil, nil},
	} {
		frames := []Frame{at}
		addArguments(frames, test.line+"\n")
		if !slices.Equal(frames[0].Args, test.names) || !slices.Equal(frames[0].Values, test.value) {
			t.Errorf("%s\n%q %q", test.line, frames[0].Args, frames[0].Values)
		}
	}
}

// What is no list of arguments is taken as far as it goes, and never panics.
func FuzzArgumentsOfShownFrames(f *testing.F) {
	f.Add(`n=5, text=0x1 "a, b=", c='`)
	f.Fuzz(func(t *testing.T, list string) {
		names, values := gdbtext.SplitArguments(list)
		if len(names) != len(values) {
			t.Fatalf("%q: %d names, %d values", list, len(names), len(values))
		}
	})
}
