package gdb

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"sdm/backend"
	"sdm/backend/mi/mitest"
	"sdm/protocol"
)

// TestMachine plays gdb for a machine, as scripts in testdata/machine describe:
//
//	start [held] [lazy] [stop=WHERE] [core=FILE] [wait=D]  attach
//	gdb                                  lines that gdb writes
//	do ID [wait=D] / NAME [ARG|{ARGS}]   a request
//	tick D                               the time is D
//	ended CODE|SIGNAL, vanished, missed, died CAUSE, close
//
// The output is the effects of the machine, and its state.
func TestMachine(t *testing.T) {
	datadriven.Walk(t, "testdata/machine", func(t *testing.T, path string) {
		m := newMachine(backend.Target{Rank: 3, PID: 42}, host{})
		var now time.Duration
		newDebugger(1).add(m)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			play(t, m, &now, d)
			return drain(m)
		})
	})
}

func play(t *testing.T, m *machine, now *time.Duration, d *datadriven.TestData) {
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
		d.MaybeScanArgs(t, "core", &m.target.Core)
		m.target.Held = d.HasArg("held")
		m.gdb.lazy = d.HasArg("lazy")
		m.gdb.old, m.gdb.loud = d.HasArg("old"), d.HasArg("loud")
		m.start(*now, 1, stop, wait, false)
	case "gdb":
		for line := range strings.SplitSeq(d.Input, "\n") {
			m.gdb.record(*now, mitest.Record(line))
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
		m.do(*now, protocol.RequestID(id), wait, &command{name: name, args: args})
	case "tick":
		*now, _ = time.ParseDuration(d.CmdArgs[0].Key)
		m.gdb.tick(*now)
	case "ended":
		code, err := strconv.Atoi(d.CmdArgs[0].Key)
		exit := protocol.Exit{Code: code}
		if err != nil {
			exit.Signal = d.CmdArgs[0].Key
		}
		m.ended(*now, exit)
	case "vanished":
		m.vanished(*now)
	case "missed":
		m.missed(*now)
	case "died":
		if len(m.gdb.died(*now, demise{cause: d.CmdArgs[0].Key, crashed: true}, d.HasArg("another"))) > 0 {
			newDebugger(1).add(m)
			m.takeOver(*now)
		}
	case "close":
		m.close(*now)
	default:
		t.Fatalf("%s: no command %s", d.Pos, d.Cmd)
	}
}

// drain prints the effects and removes them.
func drain(m *machine) string {
	var b strings.Builder
	for _, s := range m.out.signals {
		fmt.Fprintf(&b, "signal %v to %s\n", s.sig, [...]string{"target", "group", "gdb"}[s.to])
	}
	for line := range strings.Lines(string(m.gdb.take())) {
		b.WriteString("> " + line)
	}
	for _, s := range m.out.said {
		fmt.Fprintf(&b, "%d %s\n", s.request, s.group)
	}
	for _, o := range m.out.reads {
		fmt.Fprintf(&b, "read %d blocks of %d\n", len(o.blocks), o.pid)
	}
	if m.out.look {
		b.WriteString("look at the process\n")
	}
	if m.gdb.kill {
		b.WriteString("kill gdb\n")
	}
	m.out, m.gdb.kill = effects{}, false
	fmt.Fprintf(&b, "[%v", m.state)
	if m.stateNow() != m.state {
		fmt.Fprintf(&b, ", as if %v", m.stateNow())
	}
	if d := m.gdb.deadline(); d != 0 {
		fmt.Fprintf(&b, ", until %v", d)
	}
	return b.String() + "]\n"
}
