// The language of the scripts.

package backendtest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"sdm/backend"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// player plays one script:
//
//	new ranks=N [loop=SET]   a back end without ranks
//	attach SET [STOP-AT]     ranks are held and handed over
//	do                       lines: SET COMMAND [ARGS AS JSON], one after the other
//
// After each line it waits until all its ranks have answered, and those that it has resumed have
// stopped or ended, except ranks of loop that are continued. The output is by rank: answers first,
// then events, the first event of each rank before its second; equal ones of several ranks are one
// line.
type player struct {
	t       *testing.T
	subject Subject
	name    string
	setup   Setup
	opened  Opened
	checker *checker
	last    protocol.RequestID
}

func (p *player) run(d *datadriven.TestData) string {
	switch d.Cmd {
	case "new":
		p.open(d)
		return "ok\n"
	case "attach":
		return p.attach(d)
	case "do":
		var b strings.Builder
		for line := range strings.Lines(d.Input) {
			line = strings.TrimSpace(line)
			b.WriteString(line + "\n" + p.command(line))
		}
		return b.String()
	}
	p.t.Fatalf("%s: no command %s", d.Pos, d.Cmd)
	return ""
}

func (p *player) open(d *datadriven.TestData) {
	p.setup = Setup{Script: p.name}
	d.ScanArgs(p.t, "ranks", &p.setup.Ranks)
	if d.HasArg("loop") {
		var text string
		d.ScanArgs(p.t, "loop", &text)
		p.setup.Loop = p.set(text)
	}
	p.checker = newChecker()
	p.opened = p.subject.Open(p.t, p.setup, p.checker)
}

func (p *player) attach(d *datadriven.TestData) string {
	ranks, stopAt := p.set(d.CmdArgs[0].String()), ""
	if len(d.CmdArgs) > 1 {
		stopAt = d.CmdArgs[1].Key
	}
	if p.subject.Watched {
		return p.watch(d, ranks, stopAt)
	}
	var targets []backend.Target
	for r := range ranks.All() {
		if p.checker.isNew(r) {
			targets = append(targets, p.opened.Hold(r))
		} else { // it is refused
			targets = append(targets, backend.Target{Rank: r, PID: 1, Program: "work", Held: true})
		}
	}
	p.last++
	p.checker.expect(p.last, ranks, protocol.CommandInfo{Name: "attach"})
	p.opened.Backend.Attach(p.last, targets, stopAt, WaitLimit)
	return p.wait(toStop)
}

// watch attaches to ranks that are watched afterwards. It returns what the script has if the only
// events say that ranks are watched now.
func (p *player) watch(d *datadriven.TestData, ranks rank.Set, stopAt string) string {
	var targets []backend.Target
	var fresh rank.Set
	for r := range ranks.All() {
		if p.checker.isNew(r) {
			fresh = fresh.Union(rank.Of(r))
		} else { // it is refused
			targets = append(targets, backend.Target{Rank: r, PID: 1, Program: "work"})
		}
	}
	if !fresh.IsEmpty() {
		targets = append(targets, p.opened.Place(fresh, stopAt)...)
	}
	p.last++
	p.checker.expectWatched(p.last, ranks, fresh)
	p.opened.Backend.Attach(p.last, targets, "", WaitLimit)
	if fresh.IsEmpty() {
		return p.wait(toAnswer)
	}
	want := fmt.Sprintf("  reply [%v] {}\n  watched [%v] {}\n", ranks, ranks)
	if got := p.wait(toAnswer); got != want {
		p.t.Fatalf("%s: an attach to ranks that are watched: got\n%swant\n%s", d.Pos, got, want)
	}
	return d.Expected
}

// aim is the condition until which the player waits after a command.
type aim uint8

const (
	toAnswer aim = iota
	toStop       // until the ranks have stopped or ended
	toEnd
)

func (p *player) command(line string) string {
	set, rest, _ := strings.Cut(line, " ")
	name, text, given := strings.Cut(rest, "{")
	c := protocol.Command{Name: strings.TrimSpace(name)}
	if given {
		if err := json.Unmarshal([]byte("{"+text), &c.Args); err != nil {
			p.t.Fatalf("%s: %v", line, err)
		}
	}
	info, ok := protocol.LookupCommand(c.Name)
	if !ok {
		info.Name = c.Name
	}
	ranks := p.set(set)
	p.last++
	p.checker.expect(p.last, ranks, info)
	p.opened.Backend.Do(backend.Request{ID: p.last, Ranks: ranks, Wait: WaitLimit, Command: &c})
	what := toAnswer
	switch {
	case info.Ends:
		what = toEnd
	case info.Resumes && !(c.Name == "continue" && !p.setup.Loop.Intersect(ranks).IsEmpty()), c.Name == "interrupt":
		what = toStop
	}
	return p.wait(what)
}

// wait returns the answers and events of the last command.
func (p *player) wait(what aim) string {
	p.t.Helper()
	end := time.AfterFunc(WaitLimit, p.checker.timeOut)
	defer end.Stop()
	text, err := p.checker.outcome(p.last, what)
	if err != nil {
		p.t.Fatalf("%v; so far:\n%s", err, p.checker.transcript())
	}
	return text
}

func (p *player) set(text string) rank.Set {
	var s rank.Set
	if err := s.UnmarshalText([]byte(text)); err != nil {
		p.t.Fatal(fmt.Errorf("%s: %w", text, err))
	}
	return s
}
