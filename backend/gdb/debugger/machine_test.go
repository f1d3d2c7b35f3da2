package debugger

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"sdm/backend"
	"sdm/backend/gdb/request"
	"sdm/backend/mi/mitest"
	"sdm/protocol"
)

// TestMachine plays gdb for a machine, as scripts in testdata/machine describe:
//
//	start [held] [lazy] [leaderless] [stop=WHERE] [core=FILE] [wait=D]  attach
//	gdb                                  lines that gdb writes
//	do ID [wait=D] / NAME [ARG|{ARGS}]   a request
//	tick D                               the time is D
//	ended CODE|SIGNAL, vanished, missed, died CAUSE, close
//
// The output is the effects of the machine, and its state.
func TestMachine(t *testing.T) {
	datadriven.Walk(t, "testdata/machine", func(t *testing.T, path string) {
		m := NewMachine(backend.Target{Rank: 3, PID: 42}, Host{})
		var now time.Duration
		g := New(1)
		g.Add(m)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			g = play(t, g, m, &now, d)
			return drain(g, m)
		})
	})
}

func play(t *testing.T, g *Debugger, m *Machine, now *time.Duration, d *datadriven.TestData) *Debugger {
	var wait time.Duration
	if d.HasArg("wait") {
		var text string
		d.ScanArgs(t, "wait", &text)
		wait, _ = time.ParseDuration(text)
	}
	switch d.Cmd {
	case "start":
		stop := ""
		d.MaybeScanArgs(t, "stop", &stop)
		d.MaybeScanArgs(t, "core", &m.Target.Core)
		m.Target.Held = d.HasArg("held")
		leaderless := d.HasArg("leaderless")
		m.Host.LeaderEnded = func(int) bool { return leaderless }
		m.GDB.DefersSymbols = d.HasArg("lazy")
		m.GDB.Customized = d.HasArg("custom")
		m.GDB.Old, m.GDB.DebugOutput = d.HasArg("old"), d.HasArg("loud")
		m.Start(*now, 1, stop, wait, false)
	case "gdb":
		for line := range strings.SplitSeq(d.Input, "\n") {
			g.Record(*now, mitest.Record(line))
		}
	case "do":
		id, _ := strconv.Atoi(d.CmdArgs[0].Key)
		name, arg, _ := strings.Cut(d.Input, " ")
		args := protocol.Args{Expr: arg, Location: arg, Text: arg}
		if before, text, ok := strings.Cut(d.Input, "{"); ok {
			name, args = strings.TrimSpace(before), protocol.Args{}
			if err := json.Unmarshal([]byte("{"+text), &args); err != nil {
				d.Fatalf(t, "%v", err)
			}
		}
		m.Do(*now, protocol.RequestID(id), wait, &request.Command{Name: name, Args: args})
	case "tick":
		*now, _ = time.ParseDuration(d.CmdArgs[0].Key)
		g.Tick(*now)
	case "ended":
		code, err := strconv.Atoi(d.CmdArgs[0].Key)
		exit := protocol.Exit{Code: code}
		if err != nil {
			exit.Signal = d.CmdArgs[0].Key
		}
		m.Ended(*now, exit)
	case "vanished":
		m.TargetEnded(*now)
	case "missed":
		m.Missed(*now)
	case "died":
		if len(g.Died(*now, End{Cause: d.CmdArgs[0].Key, Crashed: true}, d.HasArg("another"))) > 0 {
			deadly := g.Killer()
			g = New(1)
			g.Add(m)
			if deadly != "" {
				m.Avoid(deadly)
			}
			m.TakeOver(*now)
		}
	case "close":
		m.Close(*now)
	default:
		t.Fatalf("%s: no command %s", d.Pos, d.Cmd)
	}
	return g
}

// drain prints the effects and removes them.
func drain(g *Debugger, m *Machine) string {
	var b strings.Builder
	for _, s := range m.Out.Signals {
		fmt.Fprintf(&b, "signal %v to %s\n", s.Sig, [...]string{"target", "group", "gdb"}[s.To])
	}
	for line := range strings.Lines(string(m.GDB.Take())) {
		b.WriteString("> " + line)
	}
	for _, s := range m.Out.Messages {
		fmt.Fprintf(&b, "%d %s\n", s.Request, s.Group)
	}
	for _, o := range m.Out.Reads {
		fmt.Fprintf(&b, "read %d blocks of %d\n", len(o.Blocks), o.PID)
	}
	if m.Out.Check {
		b.WriteString("look at the process\n")
	}
	if m.GDB.Kill {
		b.WriteString("kill gdb\n")
	}
	m.Out, m.GDB.Kill = Effects{}, false
	fmt.Fprintf(&b, "[%v", m.State)
	if m.StateNow() != m.State {
		fmt.Fprintf(&b, ", as if %v", m.StateNow())
	}
	if d := g.Deadline(); d != 0 {
		fmt.Fprintf(&b, ", until %v", d)
	}
	return b.String() + "]\n"
}
