package tape

import (
	"strings"
	"testing"
)

// joined returns the lines as one text.
func joined(lines []Line) string {
	var all []string
	for _, l := range lines {
		all = append(all, l.String())
	}
	return strings.Join(all, "|")
}

func read(t *testing.T, text string) []Line {
	t.Helper()
	lines, err := Read([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

const short = `# gdb 13.1
< =thread-group-added,id="i1"
> 1-target-attach ${1}
> 2-print a
< 1^done
< *stopped,pid="${1}",file="${source}/a.c"
< 2^done,value="1"
> 5-exec-interrupt
< 5^done
> 3-print a
! warning: x
< 3^done,value="2"
> 4-gdb-exit
= 0
`

func TestPlayer(t *testing.T) {
	p := newPlayer(read(t, short), names{"source": "/s"})
	for _, c := range []struct{ command, want string }{
		{"", `< =thread-group-added,id="i1"`},
		{"7-print a", ""}, // too early
		{"9-target-attach 4711", `< 9^done|< *stopped,pid="4711",file="/s/a.c"|< 7^done,value="1"`},
		{"10-exec-interrupt --thread-group i1", "< 10^done|< (gdb) "},
		{"10-list-thread-groups i1", "< 10^done|< (gdb) "},
		{"11-print b", "! the tape has no -print b: record it again|< 11^error,msg=\"the tape has no -print b: record it again\""},
		{"12-print a", `! warning: x|< 12^done,value="2"`},
		{"13-gdb-exit", "= 0"},
	} {
		got := joined(p.start())
		if c.command != "" {
			got = joined(p.take(c.command))
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.command, got, c.want)
		}
	}
	if !p.over {
		t.Error("it is not over")
	}
}

func TestNames(t *testing.T) {
	n := names{"source": "/a/b", "program": "/a"}
	n.learn("3-target-attach --thread-group i2 17")
	n.learn("4-target-attach 17")
	n.learn("5-target-attach 18")
	n.learn("5-exec-continue 19")
	clear := `3-target-attach --thread-group i2 17|-target-attach 18|pid="18",line="17"|Thread 0x17 (LWP 17)|process 170|/a/b/x.c|/a/y`
	hidden := `3-target-attach --thread-group i2 ${1}|-target-attach ${2}|pid="${2}",line="17"|Thread 0x17 (LWP ${1})|process 170|${source}/x.c|${program}/y`
	if got := n.hide(clear); got != hidden {
		t.Errorf("hidden: %s", got)
	}
	if got := n.show(hidden + "${other}"); got != clear+"${other}" {
		t.Errorf("shown: %s", got)
	}
}

func TestRead(t *testing.T) {
	for _, text := range []string{"\n", "x y\n", "<y\n", "> \n"} {
		if lines, err := Read([]byte(text)); err == nil {
			t.Errorf("%q: %v", text, lines)
		}
	}
}

// FuzzTape checks that a tape that is read and written again is the same, and that the player of
// any tape answers every command.
func FuzzTape(f *testing.F) {
	f.Add([]byte(short), "1-target-attach 7\n4-gdb-exit")
	f.Add([]byte("> 1\n< 1^done\n> ${1}-target-attach ${1}${2}\n"), "-target-attach 1")
	f.Fuzz(func(t *testing.T, text []byte, commands string) {
		lines, err := Read(text)
		if err != nil {
			return
		}
		var again strings.Builder
		for _, l := range lines {
			again.WriteString(l.String() + "\n")
		}
		if want := strings.TrimSuffix(strings.ReplaceAll(string(text), "\r\n", "\n"), "\r"); strings.TrimSuffix(again.String(), "\n") != strings.TrimSuffix(want, "\n") {
			t.Errorf("%q is read as %q", text, again.String())
		}
		p := newPlayer(lines, names{"source": "/s"})
		played := len(p.start())
		for c := range strings.SplitSeq(commands, "\n") {
			played += len(p.take(c))
		}
		if played > len(lines)+2*(1+strings.Count(commands, "\n")) {
			t.Errorf("%d lines are played of %d", played, len(lines))
		}
	})
}
