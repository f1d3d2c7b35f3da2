// Comparison with an independent parser: github.com/cyrus-and/gdb. Both must read the same from
// every line, except for the oracle's known defects.

package mi

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	oracle "github.com/cyrus-and/gdb"
	"github.com/google/go-cmp/cmp"
)

// defect is a known defect of the oracle. spoils reports the lines that it affects; each defect
// affects a line of the tapes.
type defect struct {
	name   string
	spoils func(line []byte, r Record) bool
}

var defects = []defect{
	{"panics on what is not MI", func(_ []byte, r Record) bool {
		return r.Class == Other
	}},
	{"panics on lines of 64 KiB and more", func(line []byte, _ Record) bool {
		return len(line) >= 64<<10-1
	}},
	{"panics on values without a name in a tuple or among results", func(_ []byte, r Record) bool {
		return r.Name != "download" && anyTuple(Value{Kind: TupleValue, Fields: r.Results}, func(t Value) bool {
			return t.Kind == TupleValue && hasName(t.Fields, "")
		})
	}},
	{"panics on lists that mix values and results", func(_ []byte, r Record) bool {
		return anyTuple(Value{Kind: TupleValue, Fields: r.Results}, func(t Value) bool {
			return t.Kind == ListValue && hasName(t.Fields, "") && !hasOnly(t.Fields, "")
		})
	}},
	{"panics on words without a value", func(_ []byte, r Record) bool {
		return r.Name == "traceframe-changed"
	}},
	{"keeps one of several values of a name", func(_ []byte, r Record) bool {
		return anyTuple(Value{Kind: TupleValue, Fields: r.Results}, func(t Value) bool {
			return t.Kind == TupleValue && repeats(t.Fields)
		})
	}},
	{"does not decode octal escapes and \\e", func(line []byte, _ Record) bool {
		line = bytes.ReplaceAll(line, []byte(`\\`), nil)
		for i, c := range line {
			if i > 0 && line[i-1] == '\\' && (c == 'e' || '0' <= c && c <= '7') {
				return true
			}
		}
		return false
	}},
}

// anyTuple reports whether ask is true for a tuple or list, or for one within it.
func anyTuple(v Value, ask func(Value) bool) bool {
	if ask(v) {
		return true
	}
	for _, f := range v.Fields {
		if f.Value.Kind != String && anyTuple(f.Value, ask) {
			return true
		}
	}
	return false
}

func hasName(t Tuple, name string) bool {
	_, ok := t.Get(name)
	return ok
}

func hasOnly(t Tuple, name string) bool {
	for _, f := range t {
		if f.Name != name {
			return false
		}
	}
	return true
}

func repeats(t Tuple) bool {
	seen := map[string]bool{}
	for _, f := range t {
		if seen[f.Name] {
			return true
		}
		seen[f.Name] = true
	}
	return false
}

func TestOracle(t *testing.T) {
	used := map[string]int{}
	var sane [][]byte
	var want []map[string]any
	for _, tape := range tapes(t) {
		for _, line := range lines(tape) {
			r := parseLine(line)
			if r.Class == Prompt {
				continue // the oracle returns nothing for a prompt
			}
			if d := spoiledBy(line, r); d != "" {
				used[d]++
				continue
			}
			sane = append(sane, asAsync(line, r))
			want = append(want, asOracle(r))
		}
	}
	for _, d := range defects {
		t.Logf("%4d lines left out: it %s", used[d.name], d.name)
		if used[d.name] == 0 {
			t.Errorf("no line needs the exclusion %q", d.name)
		}
	}
	got := askOracle(t, sane)
	t.Logf("%4d lines compared", len(got))
	if len(got) != len(want) || len(got) < 200 {
		t.Fatalf("the oracle read %d lines of %d", len(got), len(want))
	}
	for i := range got {
		if diff := cmp.Diff(got[i], want[i]); diff != "" {
			t.Errorf("%s (-oracle +we):\n%s", sane[i], diff)
		}
	}
}

func spoiledBy(line []byte, r Record) string {
	for _, d := range defects {
		if d.spoils(line, r) {
			return d.name
		}
	}
	return ""
}

// asAsync makes a result look like an async record: the oracle passes results only to the caller
// that waits for their token, and parses both in the same way.
func asAsync(line []byte, r Record) []byte {
	if r.Class != Result {
		return line
	}
	return bytes.Replace(line, []byte("^"), []byte("*"), 1)
}

// asOracle converts a record to the oracle's types.
func asOracle(r Record) map[string]any {
	types := map[Class]string{Result: "exec", Exec: "exec", Status: "status", Notify: "notify", Console: "console", Target: "target", Log: "log"}
	m := map[string]any{"type": types[r.Class]}
	switch {
	case r.Class == Console || r.Class == Target || r.Class == Log:
		m["payload"] = r.Text
		return m
	case r.Class == Status && len(r.Results) == 1 && r.Results[0].Name == "":
		m["payload"] = plain(r.Results[0].Value)
	case r.Results != nil:
		m["payload"] = plain(Value{Kind: TupleValue, Fields: r.Results})
	}
	m["class"] = r.Name
	return m
}

func plain(v Value) any {
	switch v.Kind {
	case TupleValue:
		m := map[string]any{}
		for _, f := range v.Fields {
			m[f.Name] = plain(f.Value)
		}
		return m
	case ListValue:
		l := []any{}
		for _, f := range v.Fields {
			if f.Name == "" {
				l = append(l, plain(f.Value))
			} else {
				l = append(l, map[string]any{f.Name: plain(f.Value)})
			}
		}
		return l
	}
	return v.Str
}

// fakeGDB returns a command line that prints a file, waits for one command, answers it as gdb
// answers -gdb-exit, and ends.
func fakeGDB(file string) []string {
	return []string{"sh", "-c", `cat "$1"; read -r command; echo '1^exit'`, "sh", file}
}

// askOracle has the oracle read lines, and returns its records.
func askOracle(t testing.TB, lines [][]byte) (got []map[string]any) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "lines.mi")
	if err := os.WriteFile(file, append(bytes.Join(lines, []byte("\n")), '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	runOracle(t, file, func(m map[string]any) { got = append(got, m) })
	return got
}

func runOracle(t testing.TB, file string, each func(map[string]any)) {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Fatal(err)
	}
	g, err := oracle.NewCmd(fakeGDB(file), each)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Exit(); err != nil {
		t.Fatal(err)
	}
}
