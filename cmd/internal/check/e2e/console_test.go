package e2e

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"sdm/protocol/rank"
)

// event is the part of an event that these tests need; see docs/protocol.md.
type event struct {
	Event, Command, Ranks  string
	ID, N                  int
	Late                   bool
	Reason, Signal, Text   string
	Code                   int
	Cause, Waited, Message string
	Kind                   string
	Hosts                  []string
	Result                 json.RawMessage
	Columns                map[string]column
	Asked, Answered        int
	Faults                 int
	Missing, Lost          string // of done: rank sets
	Frame                  struct {
		Func string
		Line int
	}

	text string // the line as received
}

type column struct {
	Values []struct{ Value, Ranks string }
}

// by returns the values of a column by rank.
func (c column) by() map[int]string {
	all := map[int]string{}
	for _, v := range c.Values {
		for r := range set(v.Ranks).All() {
			all[int(r)] = v.Value
		}
	}
	return all
}

// set parses a rank set of an event.
func set(text string) rank.Set {
	s, err := rank.Parse(text, rank.Env{All: rank.Range(0, 63)})
	if err != nil && text != "" {
		panic(fmt.Sprintf("%q is no rank set: %v", text, err))
	}
	return s
}

// console is an sdm run or sdm listen that reads commands from a test and answers in NDJSON.
type console struct {
	*process
	size int     // number of ranks
	read int     // number of lines that have been read
	seen []event // the events of these lines
	mark int     // index in seen at which the last command was typed
	last int     // number of the last call that is done
}

// run starts sdm run with commands from a pipe, and waits until the ranks have stopped.
func (s *scene) run(n int, args ...string) *console {
	s.t.Helper()
	c := &console{process: s.start("sdm", append([]string{"run", "--format", "ndjson", "-n", fmt.Sprint(n)}, args...)...), size: n}
	c.standing()
	return c
}

// standing waits for the first stop of all ranks.
func (c *console) standing() {
	c.t.Helper()
	c.comes("stopped", rank.Range(0, rank.ID(c.size-1)).String())
}

// turn forgets the earlier events.
func (c *console) turn() { c.mark = len(c.seen) }

// typed writes a line.
func (c *console) typed(line string) {
	c.t.Helper()
	c.turn()
	if _, err := fmt.Fprintln(c.in, line); err != nil {
		c.t.Fatalf("%s: type %q: %v%s", c.name, line, err, c.said())
	}
}

// answer is the events from a command to its done.
type answer struct {
	events []event
	done   event
	took   time.Duration
}

// do types a command that makes one call, and waits until the call is done.
func (c *console) do(line string) answer {
	c.t.Helper()
	began := time.Now()
	c.typed(line)
	done := c.await("done of "+line, func(e event) bool { return e.Event == "done" && e.ID > c.last })
	c.last = done.ID
	a := answer{done: done, took: time.Since(began)}
	for _, e := range c.seen[c.mark:] {
		if e.ID == done.ID {
			a.events = append(a.events, e)
		}
	}
	return a
}

// await returns the first event since the last command for which good returns true.
func (c *console) await(what string, good func(event) bool) event {
	c.t.Helper()
	late := time.After(patience)
	for i := c.mark; ; i++ {
		for i >= len(c.seen) {
			c.readOne(what, late)
		}
		if good(c.seen[i]) {
			return c.seen[i]
		}
	}
}

// readOne reads one more event.
func (c *console) readOne(what string, late <-chan time.Time) {
	c.t.Helper()
	line, ok := c.out.next(c.read, late)
	if !ok {
		c.t.Fatalf("%s: %s never came%s", c.name, what, c.said())
	}
	c.read++
	e := event{text: strings.TrimSpace(line)}
	if err := json.Unmarshal([]byte(line), &e); err != nil {
		c.t.Fatalf("%s: no event: %v: %s", c.name, err, line)
	}
	c.seen = append(c.seen, e)
}

// comes waits until events of a name have come for all of the ranks since the last command, and
// returns the last one.
func (c *console) comes(name, ranks string) event {
	c.t.Helper()
	var got rank.Set
	want := set(ranks)
	return c.await(name+" of "+ranks, func(e event) bool {
		if e.Event == name && e.ID == 0 {
			got = got.Union(set(e.Ranks))
		}
		return want.Minus(got).IsEmpty()
	})
}

// ranksOf joins the ranks of the unsolicited events of a name since the last command.
func (c *console) ranksOf(name string) string {
	var all rank.Set
	for _, e := range c.seen[c.mark:] {
		if e.Event == name && e.ID == 0 {
			all = all.Union(set(e.Ranks))
		}
	}
	return all.String()
}

// of returns the events of a name in the answer.
func (a answer) of(name string) []event {
	var some []event
	for _, e := range a.events {
		if e.Event == name {
			some = append(some, e)
		}
	}
	return some
}

// ranksOf joins the ranks of the events of a name in the answer.
func (a answer) ranksOf(name string) string {
	var all rank.Set
	for _, e := range a.of(name) {
		all = all.Union(set(e.Ranks))
	}
	return all.String()
}

// has checks that the events of a name in an answer are of exactly these ranks and contain the
// words.
func (c *console) has(a answer, name, ranks string, words ...string) {
	c.t.Helper()
	if got := a.ranksOf(name); got != ranks {
		c.t.Errorf("%s of [%s], want [%s]: %s", name, got, ranks, a)
	}
	for _, w := range words {
		for _, e := range a.of(name) {
			if !strings.Contains(e.text, w) {
				c.t.Errorf("%q is not in %s", w, e.text)
			}
		}
	}
}

func (a answer) String() string {
	var text strings.Builder
	for _, e := range a.events {
		text.WriteString("\n" + e.text)
	}
	return text.String()
}

// pids returns the process IDs of the ranks, by rank.
func (c *console) pids() map[int]int {
	c.t.Helper()
	pids := map[int]int{}
	for _, e := range c.seen {
		if e.Event != "started" {
			continue
		}
		for r, value := range e.Columns["pid"].by() {
			pids[r], _ = strconv.Atoi(value)
		}
	}
	return pids
}

// gdbOf returns the gdb of a rank, serverOf its server.
func (c *console) gdbOf(r int) int    { return c.alive(look(c.pids()[r]).tracer, "gdb") }
func (c *console) serverOf(r int) int { return c.alive(look(c.pids()[r]).parent, "sdm-server") }

func (c *console) alive(pid int, name string) int {
	c.t.Helper()
	if p := look(pid); p.name != name {
		c.t.Fatalf("process %d is %v, not %s", pid, p, name)
	}
	return pid
}

// quit ends the session.
func (c *console) quit() {
	c.t.Helper()
	c.typed("quit 0")
	c.exits(0)
}

// folded checks that each rank is in front of exactly one of the lines of text that begin and end
// with these words, as in "[0-2] (3) exited normally".
func (c *console) folded(begin, end string) {
	c.t.Helper()
	pattern := regexp.MustCompile(`(?m)^\[([0-9,-]+)\](?: \(\d+\))? ` + regexp.QuoteMeta(begin) + ".*" + regexp.QuoteMeta(end) + "$")
	all, n := rank.Set{}, 0
	for _, m := range pattern.FindAllStringSubmatch(c.out.text(), -1) {
		all = all.Union(set(m[1]))
		n += set(m[1]).Len()
	}
	if want := c.size; n != want || all.Len() != want {
		c.t.Errorf("%q is said of [%s], %d in all, want each of %d ranks once%s", begin, all, n, want, c.said())
	}
}
