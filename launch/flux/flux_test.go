package flux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sdm/protocol"
	"sdm/protocol/rank"
)

// TestGivenUp: the error tells what was waited for, and why no longer.
func TestGivenUp(t *testing.T) {
	starter := filepath.Join(t.TempDir(), "flux")
	if err := os.WriteFile(starter, []byte("#!/bin/sh\nexec sleep 1000\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	l := New(Spec{Argv: []string{starter, "run", "a"}})
	cancel(errors.New("the time is over"))
	_, err := l.Acquire(ctx, func(string) {})
	if want := "flux run has not started its job: the time is over"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if err := l.End(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestParseID(t *testing.T) {
	for text, want := range map[string]ID{
		"ƒ1": 0, "f1": 0, "0": 0, "f2": 1, "fz": 57, "f21": 58, "ƒ21": 58, "1234567890": 1234567890,
		"fjpXCZedGfVQ": 1<<64 - 1, "18446744073709551615": 1<<64 - 1,
	} {
		if got, err := ParseID(text); err != nil || got != want {
			t.Errorf("%s: %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "f", "ƒ", "-1", "+1", "12.0", "f0", "fO", "ƒ1 ", "x", "fjpXCZedGfVR", "fzzzzzzzzzzzzzz", "18446744073709551616", "flux"} {
		if got, err := ParseID(text); err == nil {
			t.Errorf("%q: %d", text, got)
		}
	}
}

func FuzzParseID(f *testing.F) {
	f.Add("ƒ5AjWdzdnDuz")
	f.Add("f21")
	f.Add("123")
	f.Fuzz(func(t *testing.T, text string) {
		id, err := ParseID(text)
		if err != nil {
			return
		}
		if again, err := ParseID(id.String()); err != nil || again != id {
			t.Errorf("%q is %d, printed as %s, which is %d, %v", text, id, id, again, err)
		}
	})
}

func TestReadHostPids(t *testing.T) {
	table, err := ReadHostPids("n1:4711,n2:311,n1.site:4712\n")
	want := protocol.Proctable{{Rank: 0, Host: "n1", PID: 4711}, {Rank: 1, Host: "n2", PID: 311}, {Rank: 2, Host: "n1.site", PID: 4712}}
	if err != nil || !slices.Equal(table, want) {
		t.Errorf("%v, %v", table, err)
	}
	for _, text := range []string{"", "\n", "n1", "n1:", "n1:0", "n1:-1", "n1:1,", "n1:1,,n2:2", "n 1:1", "-n:1", "n1:99999999999", "n1:1\nn2:2"} {
		if table, err := ReadHostPids(text); err == nil {
			t.Errorf("%q: %v", text, table)
		}
	}
}

func FuzzReadHostPids(f *testing.F) {
	f.Add("n1:4711,n1:4712,n2:311")
	f.Add("n1:1")
	f.Fuzz(func(t *testing.T, text string) {
		table, err := ReadHostPids(text)
		if err != nil {
			return
		}
		var printed []string
		for i, p := range table {
			if p.Rank != rank.ID(i) || p.PID <= 0 {
				t.Fatalf("%q: %+v", text, p)
			}
			printed = append(printed, fmt.Sprintf("%s:%d", p.Host, p.PID))
		}
		if again, err := ReadHostPids(strings.Join(printed, ",")); err != nil || !slices.Equal(again, table) {
			t.Errorf("%q: %v, then %v, %v", text, table, again, err)
		}
	})
}

func TestReadVersion(t *testing.T) {
	for text, want := range map[string]string{
		"commands:    \t\t0.84.0\nlibflux-core:\t\t0.84.0\nbroker:  \t\t0.83.0-12-gab\nFLUX_URI:\t\tlocal:///run/flux/local\n": "0.83",
		"commands:\t0.60.0\n":   "0.60",
		"commands:\t1.2-rc1\n":  "1.2",
		"flux: no such command": "flux version does not name a version",
		"broker: x.y":           "flux version does not name a version",
		"broker: 1":             "flux version does not name a version",
		"":                      "flux version does not name a version",
	} {
		v, err := ReadVersion(text)
		got := v.String()
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func FuzzReadVersion(f *testing.F) {
	f.Add("commands: 0.84.0\nbroker: 0.83.0")
	f.Fuzz(func(t *testing.T, text string) {
		if v, err := ReadVersion(text); err == nil && (v.Major < 0 || v.Minor < 0) {
			t.Errorf("%q: %v", text, v)
		}
	})
}

func TestRefusal(t *testing.T) {
	for _, c := range []struct {
		v       Version
		own     bool
		refused bool
	}{
		{Version{0, 83}, false, true}, {Version{0, 83}, true, false}, {Version{0, 84}, false, false}, {Version{1, 0}, false, false}, {Version{0, 100}, false, false},
	} {
		if err := c.v.Refusal(c.own); (err != nil) != c.refused {
			t.Errorf("%v, own instance %v: %v", c.v, c.own, err)
		}
	}
}

func TestJobOf(t *testing.T) {
	for line, want := range map[string]string{
		"flux-job attach ƒ21":                                  "f21",
		"/usr/libexec/flux/cmd/flux-job attach --label-io f21": "f21",
		"flux-job attach":                                      "",
		"flux-job attach --unbuffered":                         "",
		"flux-job hostpids f21":                                "",
		"python3 flux-run.py -n 2 app":                         "",
		"":                                                     "",
	} {
		got := ""
		if id, found := JobOf(strings.Split(line, " ")); found {
			got = id.String()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

func TestHeld(t *testing.T) {
	for line, want := range map[string]string{
		"flux run -n 4 app run":     "flux run -o stop-tasks-in-exec -n 4 app run",
		"/opt/bin/flux -v run app":  "/opt/bin/flux -v run -o stop-tasks-in-exec app",
		"flux":                      "flux: which of its commands?",
		"flux --parent":             "flux: which of its commands?",
		"flux submit app":           "flux submit: sdm takes control of a job of flux run;",
		"flux proxy f1 flux run -n": "flux proxy: sdm takes control of a job of flux run;",
	} {
		argv, err := Held(strings.Fields(line))
		got := strings.Join(argv, " ")
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}
