// Arguments arrive unchanged, by a reimplementation of gdb's rules and in a real gdb.

package mi

import (
	"bytes"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// hardArguments are texts that need quoting.
var hardArguments = []string{
	"plain", "", "a b", " leading and trailing ", "tab\there", "line\nbreak\r\n",
	`say "hi"`, `it's`, `back\slash`, `C:\new\table`, `\"`, `"`, `\`, "\u00e4\u00f6 \u2713 \U0001F600",
	"\x01\x02\x7f", "\x017", "\xff\xfe bytes", " --all", "-1", "a,b={c}[d]", "$x ^ ~ @ # %", "x;y|z&",
}

func TestAppendCommand(t *testing.T) {
	tests := []struct {
		name    string
		token   int64
		command string
		args    []string
		want    string
	}{
		{"no arguments", 1, "-exec-run", nil, "1-exec-run\n"},
		{"no token", -1, "-exec-run", nil, "-exec-run\n"},
		{"plain", 12, "-break-insert", []string{"-c", "x==2", "work.c:12"}, "12-break-insert -c x==2 work.c:12\n"},
		{"quoted", 3, "-data-evaluate-expression", []string{`a + "b\n"`}, `3-data-evaluate-expression "a + \"b\\n\""` + "\n"},
		{"empty", 3, "-x", []string{"", "y"}, `3-x "" y` + "\n"},
		{"newline", 4, "-x", []string{"a\nb"}, `4-x "a\012b"` + "\n"},
		{"one call is one command", 5, "-x\n-gdb-exit\r\x00", nil, "5-x -gdb-exit  \n"},
		{"raw rest", 6, `-gdb-set args a\ b "c"`, nil, `6-gdb-set args a\ b "c"` + "\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := AppendCommand([]byte("x"), tt.token, tt.command, tt.args...); string(got) != "x"+tt.want {
				t.Errorf("wrote %q, want %q", got[1:], tt.want)
			}
		})
	}
}

// splitArguments is a simple reimplementation of gdb's mi_parse_argv: words between blanks, or
// strings in quotes. ok is false if gdb refuses the line.
func splitArguments(line string) (args []string, ok bool) {
	for {
		line = strings.TrimLeft(line, " \t")
		if line == "" {
			return args, true
		}
		if line[0] != '"' {
			end := strings.IndexAny(line+" ", " \t")
			args, line = append(args, line[:end]), line[end:]
			continue
		}
		r := parseLine([]byte("~" + line[:closingQuote(line)]))
		if r.Class != Console {
			return nil, false
		}
		args, line = append(args, r.Text), line[closingQuote(line):]
		if line != "" && line[0] != ' ' {
			return nil, false
		}
	}
}

// closingQuote returns the index behind the string at the start of line.
func closingQuote(line string) int {
	for i := 1; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(line)
}

func FuzzArguments(f *testing.F) {
	for _, a := range hardArguments {
		f.Add(a, "next")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		line := string(AppendCommand(nil, 1, "-x", a, b))
		if strings.Count(line, "\n") != 1 || strings.ContainsAny(line, "\x00\r") {
			t.Fatalf("%q is more than one line", line)
		}
		a, _, _ = strings.Cut(a, "\x00")
		b, _, _ = strings.Cut(b, "\x00")
		got, ok := splitArguments(strings.TrimSuffix(strings.TrimPrefix(line, "1-x"), "\n"))
		if !ok || len(got) != 2 || got[0] != a || got[1] != b {
			t.Errorf("%q, %q arrive as %q", a, b, got)
		}
	})
}

// TestArgumentsAtGDB lets gdb print what it got: the error of -interpreter-exec repeats the name
// of an unknown interpreter.
func TestArgumentsAtGDB(t *testing.T) {
	var in []byte
	for i, a := range hardArguments {
		in = AppendCommand(in, int64(i), "-interpreter-exec", a, "echo")
	}
	in = AppendCommand(in, -1, "-gdb-exit")
	cmd := exec.Command("gdb", "-nx", "-nh", "-q", "--interpreter=mi3")
	cmd.Stdin = bytes.NewReader(in)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	got := map[int64]string{}
	records := feedAll(new(Parser), true, out)
	for _, r := range records {
		if r.Class == Result && r.Token >= 0 {
			got[r.Token] = r.Results.Str("msg")
		}
	}
	for i, a := range hardArguments {
		want := `-interpreter-exec: could not find interpreter "` + a + `"`
		if got[int64(i)] != want {
			t.Errorf("%s arrives in %q", strconv.Quote(a), got[int64(i)])
		}
	}
}
