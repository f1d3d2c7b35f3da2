// All forms of lines, valid and invalid.

package mi

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseLine(t *testing.T) {
	const none = -1
	tests := []struct {
		name, line string
		want       Record
	}{
		{"prompt", "(gdb) ", Record{Class: Prompt, Token: none}},
		{"prompt without blank", "(gdb)", Record{Class: Prompt, Token: none}},
		{"prompt of a terminal", "(gdb) \r", Record{Class: Prompt, Token: none}},
		{"result", "1^done", Record{Class: Result, Token: 1, Name: "done"}},
		{"result without token", "^running", Record{Class: Result, Token: none, Name: "running"}},
		{"token 0", "0^exit", Record{Class: Result, Token: 0, Name: "exit"}},
		{"longest token", "999999999999999999^exit", Record{Class: Result, Token: 999999999999999999, Name: "exit"}},
		{"error", `7^error,msg="No symbol \"x\" in current context.",code="e"`,
			Record{Class: Result, Token: 7, Name: "error", Results: Tuple{is("msg", str(`No symbol "x" in current context.`)), is("code", str("e"))}}},
		{"exec", `*stopped,reason="exited",exit-code="03"`,
			Record{Class: Exec, Token: none, Name: "stopped", Results: Tuple{is("reason", str("exited")), is("exit-code", str("03"))}}},
		{"stopped without a reason", `*stopped`, Record{Class: Exec, Token: none, Name: "stopped"}},
		{"async with token", `5*running,thread-id="all"`,
			Record{Class: Exec, Token: 5, Name: "running", Results: Tuple{is("thread-id", str("all"))}}},
		{"status, tuple without name", `+download,{section=".text",total-size="9"}`,
			Record{Class: Status, Token: none, Name: "download", Results: Tuple{is("", tup(is("section", str(".text")), is("total-size", str("9"))))}}},
		{"notify", `=thread-created,id="1",group-id="i1"`,
			Record{Class: Notify, Token: none, Name: "thread-created", Results: Tuple{is("id", str("1")), is("group-id", str("i1"))}}},
		{"notify, lone word", `=traceframe-changed,end`,
			Record{Class: Notify, Token: none, Name: "traceframe-changed", Results: Tuple{is("end", str(""))}}},
		{"notify, value without quotes", `=thread-group-created,id=i1`,
			Record{Class: Notify, Token: none, Name: "thread-group-created", Results: Tuple{is("id", str("i1"))}}},
		{"console", `~"two\nlines\n"`, Record{Class: Console, Token: none, Text: "two\nlines\n"}},
		{"target", `@"x"`, Record{Class: Target, Token: none, Text: "x"}},
		{"log", `&""`, Record{Class: Log, Token: none}},
		{"carriage return", "3^done\r", Record{Class: Result, Token: 3, Name: "done"}},

		{"empty tuple, list, string", `^done,a={},b=[],c=""`,
			Record{Class: Result, Token: none, Name: "done", Results: Tuple{is("a", tup()), is("b", list()), is("c", str(""))}}},
		{"list of values", `^done,r=["rax","","rcx"]`,
			Record{Class: Result, Token: none, Name: "done", Results: Tuple{is("r", list(is("", str("rax")), is("", str("")), is("", str("rcx"))))}}},
		{"list of results", `^done,stack=[frame={level="0"},frame={level="1"}]`,
			Record{Class: Result, Token: none, Name: "done", Results: Tuple{is("stack", list(is("frame", tup(is("level", str("0")))), is("frame", tup(is("level", str("1"))))))}}},
		{"names repeat, in order", `^done,b="1",a="2",b="3"`,
			Record{Class: Result, Token: none, Name: "done", Results: Tuple{is("b", str("1")), is("a", str("2")), is("b", str("3"))}}},
		{"mi2, locations", `^done,bkpt={number="1"},{number="1.1"},{number="1.2"}`,
			Record{Class: Result, Token: none, Name: "done", Results: Tuple{is("bkpt", tup(is("number", str("1")))), is("", tup(is("number", str("1.1")))), is("", tup(is("number", str("1.2"))))}}},
		{"mi2 and mi3, script", `^done,script={"silent","p \"x\""}`,
			Record{Class: Result, Token: none, Name: "done", Results: Tuple{is("script", tup(is("", str("silent")), is("", str(`p "x"`))))}}},

		{"empty line", "", Record{Class: Other, Token: none}},
		{"text", "hello", Record{Class: Other, Token: none, Text: "hello"}},
		{"text keeps its carriage return", "hello\r", Record{Class: Other, Token: none, Text: "hello\r"}},
		{"number", "42", Record{Class: Other, Token: none, Text: "42"}},
		{"stars", "*** error ***", Record{Class: Other, Token: none, Text: "*** error ***"}},
		{"token too long", "1000000000000000000^done", Record{Class: Other, Token: none, Text: "1000000000000000000^done"}},
		{"unknown result class", "^doing", Record{Class: Other, Token: none, Text: "^doing"}},
		{"stream with token", `1~"x"`, Record{Class: Other, Token: none, Text: `1~"x"`}},
		{"prompt with token", `1(gdb) `, Record{Class: Other, Token: none, Text: `1(gdb) `}},
		{"text before a record", `no newline*stopped`, Record{Class: Other, Token: none, Text: `no newline*stopped`}},
		{"nothing after comma", `^done,`, Record{Class: Other, Token: none, Text: `^done,`}},
		{"nothing after equals", `^done,a=`, Record{Class: Other, Token: none, Text: `^done,a=`}},
		{"two commas", `^done,a="1",,b="2"`, Record{Class: Other, Token: none, Text: `^done,a="1",,b="2"`}},
		{"string open", `~"abc`, Record{Class: Other, Token: none, Text: `~"abc`}},
		{"string open after escape", `~"abc\"`, Record{Class: Other, Token: none, Text: `~"abc\"`}},
		{"string ends in backslash", `~"abc\`, Record{Class: Other, Token: none, Text: `~"abc\`}},
		{"text behind string", `~"abc" `, Record{Class: Other, Token: none, Text: `~"abc" `}},
		{"tuple open", `^done,a={b="1"`, Record{Class: Other, Token: none, Text: `^done,a={b="1"`}},
		{"tuple closed as list", `^done,a={b="1"]`, Record{Class: Other, Token: none, Text: `^done,a={b="1"]`}},
		{"closed too often", `^done,a="1"}`, Record{Class: Other, Token: none, Text: `^done,a="1"}`}},
		{"string behind a name", `^done,a"b"`, Record{Class: Other, Token: none, Text: `^done,a"b"`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, parseLine([]byte(tt.line))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.line, diff)
			}
		})
	}
}

// TestDepth checks that nesting beyond maxDepth is class Other, and that less is parsed.
func TestDepth(t *testing.T) {
	nested := func(n int) []byte {
		return []byte("^done,a=" + strings.Repeat("[", n) + strings.Repeat("]", n))
	}
	if got := parseLine(nested(maxDepth)).Class; got != Result {
		t.Errorf("depth %d is of class %v", maxDepth, got)
	}
	for _, n := range []int{maxDepth + 1, 1 << 20} {
		if got := parseLine(nested(n)).Class; got != Other {
			t.Errorf("depth %d is of class %v", n, got)
		}
	}
}

// TestRecordOwnsItsText overwrites a line after it has been parsed.
func TestRecordOwnsItsText(t *testing.T) {
	line := []byte(`1^done,value="plain",other="esc\"aped"`)
	r := parseLine(line)
	before := r.String()
	for i := range line {
		line[i] = 'X'
	}
	if got := r.String(); got != before {
		t.Errorf("record changed with its buffer: %s", got)
	}
}

// TestTapes checks that records of gdb's output are written back byte for byte.
func TestTapes(t *testing.T) {
	for name, tape := range tapes(t) {
		if name == "written.mi" {
			continue // has forms that are written back differently
		}
		count := map[Class]int{}
		for _, line := range lines(tape) {
			r := parseLine(line)
			count[r.Class]++
			if got := r.String(); got != string(line) {
				t.Errorf("%s: reads %.300s\nbut writes %.300s", name, line, got)
			}
		}
		if count[Prompt] == 0 || count[Result] == 0 || count[Exec] == 0 {
			t.Errorf("%s: holds too little: %v", name, count)
		}
	}
}

// TestTapesOther checks that the only lines of class Other are those that the programs wrote.
func TestTapesOther(t *testing.T) {
	want := map[string][]string{
		"session.mi": {"rank 3: sum 12 factorial 6"},
		"threads.mi": {"5 threads, sum 30"},
		"mixed.mi": {
			"b\x01\xff\xfe\xc3(\r", "no newline~\"[Inferior 1 (process ", // on gdb's own line
			"a child of gdb speaks", "", "=looks like a record", `{"but": "is not"}`,
		},
	}
	for name, tape := range tapes(t) {
		var got []string
		for _, line := range lines(tape) {
			if r := parseLine(line); r.Class == Other {
				text, _, _ := strings.Cut(r.Text, "process ")
				got = append(got, r.Text[:min(len(r.Text), len(text)+len("process "))])
			}
		}
		if !slices.Equal(got, want[name]) {
			t.Errorf("%s: %q, want %q", name, got, want[name])
		}
	}
}

func FuzzParseLine(f *testing.F) {
	for _, tape := range tapes(f) {
		for _, line := range lines(tape) {
			if len(line) < 2000 {
				f.Add(line)
			}
		}
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		r := parseLine(line)
		written := r.Append(nil)
		if again := parseLine(written); !reflect.DeepEqual(r, again) {
			t.Errorf("%q\nis written as %q, which reads otherwise:\n%s", line, written, cmp.Diff(r, again))
		}
		if r.Class == Other && r.Text != string(line) {
			t.Errorf("%q is given as %q", line, r.Text)
		}
	})
}

// parseLine parses one line, given without its newline.
func parseLine(line []byte) Record {
	var l lexer
	return l.record(string(line))
}
