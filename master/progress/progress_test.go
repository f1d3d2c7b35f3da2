package progress

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sdm/protocol/rank"
)

var rewrite = flag.Bool("rewrite", false, "write the expected answers of the scripts anew")

// TestScripts plays the scripts of testdata. A line is a configuration, "stall=120s interval=10s value", or a
// sample, "30s [took=1s] [silent] CHANGE[@RANKS]...", of which "auto" instead of a time is taken when it is due; the line
// "----" separates them from what is answered for each sample.
func TestScripts(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			script, want, _ := strings.Cut(string(text), "----\n")
			got := play(t, script)
			if *rewrite {
				if err := os.WriteFile(path, []byte(script+"----\n"+got), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func play(t *testing.T, script string) string {
	t.Helper()
	var out strings.Builder
	var j *Judge
	for lines := bufio.NewScanner(strings.NewReader(script)); lines.Scan(); {
		line := lines.Text()
		words := strings.Fields(line)
		switch {
		case line == "" || line[0] == '#':
			continue
		case j == nil:
			j = New(configOf(t, words), 0)
			continue
		}
		now := j.Next()
		if words[0] != "auto" {
			now = timeOf(t, words[0])
		}
		state := j.Add(now, sampleOf(t, words[1:]))
		since, last := j.Since()
		delayed := ""
		if d := j.Delay(); d > 0 {
			delayed = fmt.Sprintf(" since one took %v", d)
		}
		fmt.Fprintf(&out, "%v %v, last progress at %v: %q, next at %v%s\n", now, state, since, last, j.Next(), delayed)
	}
	return out.String()
}

func configOf(t *testing.T, words []string) (c Config) {
	for _, w := range words {
		name, value, _ := strings.Cut(w, "=")
		switch name {
		case "stall":
			c.Stall = timeOf(t, value)
		case "interval":
			c.Interval = timeOf(t, value)
		case "value":
			c.Value = true
		default:
			t.Fatalf("%q is no configuration", w)
		}
	}
	return c
}

func sampleOf(t *testing.T, words []string) Sample {
	s := Sample{Answered: rank.Range(0, 3)}
	for _, w := range words {
		if value, is := strings.CutPrefix(w, "took="); is {
			s.Took = timeOf(t, value)
			continue
		}
		if w == "silent" {
			s.Answered = rank.Set{}
			continue
		}
		c := Change{}
		kind, set, some := strings.Cut(w, "@")
		c.Kind = kind
		if some {
			var err error
			if c.Ranks, err = rank.Parse(set, rank.Env{All: rank.Range(0, 3)}); err != nil {
				t.Fatal(err)
			}
		}
		s.Changes = append(s.Changes, c)
	}
	return s
}

func timeOf(t *testing.T, text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
