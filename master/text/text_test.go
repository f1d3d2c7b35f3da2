package text

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cockroachdb/datadriven"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
)

// TestScripts writes the events of testdata, which are JSON lines.
//
//	answers command=NAME [label=TEXT] [format=LETTERS] [full] [ranks=SET]   all lines answer one request
//	         [exited=SET] [signalled=SET] [lost=SET]       of ranks that had ended
//	late command=NAME                                      each line is a late answer
//	events [all=SET]                                       each line is an event
//
// "color" and "terminal" set those fields of the Writer. Use -rewrite to rewrite.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			return visible(carryOut(t, d))
		})
	})
}

// visible shows control characters and invalid UTF-8 as <1b>, so that transcripts are text.
func visible(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError || r < ' ' && r != '\n' && r != '\t' {
			fmt.Fprintf(&b, "<%02x>", s[i])
		} else {
			b.WriteRune(r)
		}
		i += n
	}
	return b.String()
}

func carryOut(t *testing.T, d *datadriven.TestData) string {
	w := Writer{Color: d.HasArg("color"), Terminal: d.HasArg("terminal"), All: setArg(t, d, "all")}
	a := Asked{Full: d.HasArg("full"), Ranks: setArg(t, d, "ranks")}
	d.MaybeScanArgs(t, "command", &a.Command)
	a.Command = strings.ReplaceAll(a.Command, "_", " ")
	d.MaybeScanArgs(t, "label", &a.Label)
	d.MaybeScanArgs(t, "format", &a.Format)
	for _, s := range []session.Status{{State: session.Exited}, {State: session.Signalled, Signal: "SIGKILL"}, {State: session.Lost}} {
		if ranks := setArg(t, d, string(s.State)); !ranks.IsEmpty() {
			a.Gone = append(a.Gone, session.StatusGroup{Status: s, Ranks: ranks})
		}
	}
	events := readEvents(t, d)
	var b strings.Builder
	switch d.Cmd {
	case "answers":
		var groups []protocol.Group
		for _, e := range events {
			groups = append(groups, e.Group)
		}
		text, folded := w.Answers(a, groups)
		b.WriteString(text)
		if folded {
			b.WriteString("(folded)\n")
		}
	case "late":
		for _, e := range events {
			b.WriteString(w.Late(a, e.Group))
		}
	case "events":
		for _, e := range events {
			b.WriteString(w.Event(e))
		}
	default:
		d.Fatalf(t, "unknown command %s", d.Cmd)
	}
	return b.String()
}

func setArg(t *testing.T, d *datadriven.TestData, name string) rank.Set {
	t.Helper()
	var text string
	d.MaybeScanArgs(t, name, &text)
	var s rank.Set
	if err := s.UnmarshalText([]byte(text)); err != nil {
		d.Fatalf(t, "%s: %v", name, err)
	}
	return s
}

func readEvents(t *testing.T, d *datadriven.TestData) []session.Event {
	t.Helper()
	var events []session.Event
	for _, line := range strings.Split(d.Input, "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		var e session.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			d.Fatalf(t, "%s: %v", line, err)
		}
		events = append(events, e)
	}
	return events
}

// An invalid body is shown unchanged, without a panic.
func TestAnyBody(t *testing.T) {
	for _, body := range []string{"", "null", "[]", "7", `"x"`, "{", "\xff\x00", `{"frames":7}`, `{"frame":null}`} {
		for command := range results {
			g := protocol.Group{Kind: protocol.KindResult, Ranks: rank.Range(0, 3), Body: []byte(body)}
			(&Writer{}).Answers(Asked{Command: command}, []protocol.Group{g})
		}
		for _, k := range []protocol.Kind{protocol.KindFault, protocol.KindMissing, protocol.KindLost, protocol.KindStopped,
			protocol.KindExited, protocol.KindSignalled, protocol.KindNote, protocol.KindStdout, protocol.KindStarted, 99} {
			g := protocol.Group{Kind: k, Ranks: rank.Range(0, 3), Body: []byte(body)}
			text := (&Writer{}).Event(session.Event{Group: g})
			if text != "" && !strings.HasPrefix(text, "[0-3]") {
				t.Errorf("kind %v, body %q: %q does not begin with the ranks", k, body, text)
			}
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add("plain")
	f.Add("\x1b]0;title\x07 \x9b31m \u202e \xff\t")
	f.Fuzz(func(t *testing.T, s string) {
		out := Clean(s)
		for _, r := range out {
			if r < ' ' && r != '\t' || r >= 0x7f && r < 0xa0 || protocol.ChangesDirection(r) {
				t.Errorf("clean(%q) = %q holds %q", s, out, r)
			}
		}
		if again := Clean(out); again != out {
			t.Errorf("clean(%q) = %q, and that again gives %q", s, out, again)
		}
	})
}

// A name with a newline begins no line of its own, and no control character of a name reaches a pipe; output of
// ranks is exact there, and clean on a terminal.
func TestNamesBeginNoLine(t *testing.T) {
	const evil = "f\n[0-7] forged \x1b[31m\u009b\u202e"
	shown := "f^J[0-7] forged ^[[31m\\u009b\\u202e"
	frame := protocol.Frame{Func: evil, File: evil, Line: 3}
	for _, terminal := range []bool{false, true} {
		w := Writer{Terminal: terminal, All: rank.Range(0, 7)}
		stop := protocol.Group{Kind: protocol.KindStopped, Ranks: rank.Of(1), Body: canonical.JSON(map[string]any{"reason": "signal-received", "signal": "SIGSEGV", "meaning": "x", "frame": frame})}
		place := protocol.Group{Kind: protocol.KindResult, Ranks: rank.Of(1), Body: canonical.JSON(map[string]any{"frames": []protocol.Frame{frame}})}
		trace, _ := w.Answers(Asked{Command: "backtrace"}, []protocol.Group{place})
		for _, got := range []string{w.Event(session.NewEvent(stop)), trace} {
			if strings.Contains(got, evil) || !strings.Contains(got, shown) || strings.Count(got, "\n") > 2 {
				t.Errorf("terminal %v: %q", terminal, got)
			}
		}
		out := w.Event(session.NewEvent(protocol.Group{Kind: protocol.KindStdout, Ranks: rank.Of(1), Body: []byte("\x1b[31mred\n")}))
		if want := map[bool]string{false: "[1] \x1b[31mred\n", true: "[1] ^[[31mred\n"}[terminal]; out != want {
			t.Errorf("terminal %v: output %q", terminal, out)
		}
	}
}
