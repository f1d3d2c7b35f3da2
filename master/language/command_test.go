package language

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"sdm/protocol/canonical"
)

// TestScripts plays testdata/script: "parse" shows the meaning of each input line, "help" and
// "complete" their results. Use -rewrite to rewrite.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/script", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var b strings.Builder
			for _, line := range strings.Split(d.Input, "\n") {
				switch d.Cmd {
				case "parse":
					b.WriteString(show(line) + "\n")
				case "help":
					text, err := HelpText(line)
					b.WriteString(text)
					if err != nil {
						b.WriteString("error: " + err.Error() + "\n")
					}
				case "complete":
					words, n := Complete(strings.TrimSuffix(line, "|"), []string{"odd", "even"})
					fmt.Fprintf(&b, "%d %s\n", n, strings.Join(words, " "))
				default:
					d.Fatalf(t, "unknown command %s", d.Cmd)
				}
			}
			return b.String()
		})
	})
}

// show formats the fields of a command that are not zero.
func show(line string) string {
	c, ok, err := Parse(line)
	switch {
	case err != nil:
		return "error: " + err.Error()
	case !ok:
		return "nothing"
	}
	var s []string
	add := func(name string, value any) {
		if !reflect.ValueOf(value).IsZero() {
			s = append(s, fmt.Sprintf("%s=%v", name, value))
		}
	}
	add("set", c.Set)
	add("wait", c.Wait)
	add("do", c.Do)
	if args := string(canonical.JSON(c.Args)); args != "{}" {
		add("args", args)
	}
	add("data", string(c.Args.Data))
	add("label", c.Label)
	add("export", c.Export)
	add("file", c.File)
	add("page", c.Page)
	add("for", c.For)
	add("number", c.Number)
	add("text", c.Text)
	add("background", c.Background)
	return strings.TrimSpace(c.Name + ": " + strings.Join(s, " "))
}

// Each name and abbreviation is unique and finds its own row.
func TestEveryAbbreviation(t *testing.T) {
	seen := map[string]string{}
	for _, w := range words {
		for _, s := range append([]string{w.Name}, w.Short...) {
			if other, ok := seen[s]; ok {
				t.Errorf("%q means %s and %s", s, other, w.Name)
			}
			seen[s] = w.Name
			if got, err := Lookup(s); err != nil || got.Name != w.Name {
				t.Errorf("Lookup(%q) = %q, %v; want %q", s, got.Name, err, w.Name)
			}
		}
		if w.Help == "" || w.parse == nil && w.Usage != "" {
			t.Errorf("row %s has no help, or a usage and no parser", w.Name)
		}
	}
}

// Every word with one letter missing is still understood, or the word is suggested.
func TestNearWords(t *testing.T) {
	for _, w := range words {
		if len(w.Name) < 6 || strings.Contains(w.Name, " ") {
			continue
		}
		typo := w.Name[:2] + w.Name[3:]
		_, err := Lookup(typo)
		if near := nearest(typo); near != "" && near != w.Name && distance(typo, near) <= distance(typo, w.Name) {
			continue // equally similar: tbreak for threak, thbreak without its b
		}
		if err == nil || !strings.Contains(err.Error(), w.Name) {
			t.Errorf("Lookup(%q) = %v, which does not name %s", typo, err, w.Name)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"[0-3,7] print x", "wait=2s [all,!5] c 3 &", "break f(int, char) if s == \" if \"", "send 0 \"a\\n\"", "l foo.c:10,20",
		"[@expr{a[1] == ']'}] bt full 3", "group a-b = 0-3 & @stopped", "wait 0-3 for 100ms", "p/x ä", "!ls -l", "delete 1-3 7", "# no", "set wait none",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		c, ok, err := Parse(line)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r") {
				t.Errorf("the mistake %q has more than one line", err)
			}
			return
		}
		if !ok {
			return
		}
		again, ok, err := Parse(c.String())
		if err != nil || !ok {
			t.Fatalf("%q reads as %q, which reads as %v, %v", line, c.String(), ok, err)
		}
		if !reflect.DeepEqual(c, again) {
			t.Errorf("%q: %+v printed as %q reads as %+v", line, c, c.String(), again)
		}
		Complete(line, nil)
	})
}

// Words in unavailable are not in the table.
func TestElsewhere(t *testing.T) {
	for text, hint := range unavailable {
		if w, m := lookup(text); m == nil {
			t.Errorf("%s is %s", text, w.Name)
		} else if m.Hint != hint {
			t.Errorf("%s: %s", text, m.Hint)
		}
	}
}
