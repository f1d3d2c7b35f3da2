package cluster

import (
	"strings"
	"testing"
	"time"

	"sdm/backend/sim"
)

func script(t testing.TB, text string) Script {
	t.Helper()
	s, err := ParseScript(strings.NewReader(text), 200, 8)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const everything = `# all statements
seed 9
run 1ms..3ms
run 5ms 10-19
answer 2ms [7]
stacks 3
value a = 2 * rank + noise
value a = a + size for 3,5   # of two, the last
crash 1 at 14
crash 2
fail 4,6 with 3
hang 8
loop 9
output hello from %r # not a comment
after 2s kill server 1-2
after 10ms kill servers 0
`

func TestParseScript(t *testing.T) {
	s := script(t, everything)
	b := s.Behaviour
	if b.Seed != 9 || b.Variants != 3 || b.CrashLine != 14 || b.FailCode != 3 || b.Output != "hello from %r # not a comment\n" {
		t.Errorf("%+v", b)
	}
	sets := b.Crash.String() + " " + b.Fail.String() + " " + b.Hang.String() + " " + b.Loop.String()
	if want := "1-2 4,6 8 9"; sets != want {
		t.Errorf("crash, fail, hang, loop: %s, want %s", sets, want)
	}
	if d := b.RunTime(12, 1); d != 5*time.Millisecond {
		t.Errorf("rank 12 runs %v", d)
	}
	if d := b.RunTime(30, 1); d < time.Millisecond || d > 3*time.Millisecond || d == b.RunTime(30, 2) && d == b.RunTime(30, 3) {
		t.Errorf("rank 30 runs %v, and the same again", d)
	}
	if b.AnswerTime(7, 1) != 2*time.Millisecond || b.AnswerTime(6, 1) != 0 {
		t.Error("answer times")
	}
	if len(b.Variables) != 2 || b.Variables[1].Ranks.String() != "3,5" || b.Variables[1].Expr != "a + size" {
		t.Errorf("%+v", b.Variables)
	}
	if len(s.Actions) != 2 || s.Actions[0].After != 10*time.Millisecond || s.Actions[1].Kill.String() != "1-2" {
		t.Errorf("%+v", s.Actions)
	}
}

func TestParseScriptRefuses(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"walk 1ms", `line 1: unknown statement "walk"`},
		{"\nrun", "line 2: run: something is missing"},
		{"run fast", `"fast" is no time`},
		{"run 5ms..1ms", "ends before it begins"},
		{"run -5ms", "is no time"},
		{"run 25h", "is no time"},
		{"run 5ms 200", "200"},
		{"stacks 0", `"0" is no number`},
		{"stacks many", `"many" is no number`},
		{"value x", "give NAME = EXPR"},
		{"value 2x = 1", "cannot be the name"},
		{"value x = y", `No symbol "y"`},
		{"value x = 1 for 900", "900"},
		{"crash 1 at 6", "line 6 of work.c has no code"},
		{"crash nobody", "nobody"},
		{"fail 1 with 256", `"256" is no number`},
		{"after 1s kill 3", "give after TIME kill server SET"},
		{"after 1s kill server 8", "8"},
		{"seed x", "x"},
		{"output " + strings.Repeat("x", maxLine), "a line has at most"},
		{strings.Repeat("\n", maxLines+1), "at most 10000 lines"},
	} {
		_, err := ParseScript(strings.NewReader(c.text), 200, 8)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40q: %v, want %q", c.text, err, c.want)
		}
	}
}

// FuzzParseScript checks that no text makes the parser panic, and that accepted scripts are usable.
func FuzzParseScript(f *testing.F) {
	f.Add(everything)
	f.Add("value x = 1/0\nrun 0..0\n")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseScript(strings.NewReader(text), 200, 8)
		if err == nil {
			s.Behaviour.Size = 200
			sim.New(s.Behaviour, nil)
		}
	})
}
