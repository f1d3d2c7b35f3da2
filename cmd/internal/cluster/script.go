// Scripts that tell what simulated ranks do and what happens to servers.

package cluster

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"sdm/backend/sim"
	"sdm/protocol/rank"
)

// Script tells what simulated ranks do (Behaviour) and what happens to servers (Actions).
type Script struct {
	Behaviour sim.Config // Size is set by the cluster
	Actions   []Action   // in order of time
}

// Action is an action at a time after the tree was built.
type Action struct {
	After time.Duration
	Kill  rank.Set // servers that are killed
}

// Grammar is the help text about scripts.
const Grammar = `One statement a line; # begins a comment. SET is a rank set (0-3,8, all, 0-99:2), TIME is
100us, 5ms, 2s or a range of them (0ms..200ms: at random, another one for each rank and run).

  run TIME [SET]            how long a rank takes from where it is resumed to its next stop
  answer TIME [SET]         how long a rank thinks before it answers
  stacks N                  N different stacks below compute; rank r is in phase_K, K = r % N
  value NAME = EXPR [for SET]
                            a variable; EXPR may use rank, size, noise (0 to 999, another one for
                            each rank), earlier variables, + - * / %, comparisons and structures
                            ({x = rank, w = {1, 2}})
  value NAME[N] = EXPR [for SET]
                            an array of N elements; EXPR may also use i, the number of the element
  crash SET [at LINE]       dies of SIGSEGV at a line of work.c (default: the first of helper)
  fail SET [with CODE]      ends with an exit code (default 1)
  hang SET                  answers nothing
  loop SET                  once continued in main, runs until it is interrupted
  barrier SET               waits in MPI_Barrier, as stacks and waits tell
  ring SET                  waits in MPI_Recv for the next rank, as stacks and waits tell
  output TEXT               what every rank writes at line 22; %r is the rank
  after TIME kill server SET
                            servers die with their ranks, TIME after the tree stands
  seed N                    another N, another course of all that is random (default 1)
`

// Limits of a script.
const (
	maxLines = 10_000
	maxLine  = 4 << 10 // bytes
)

// ParseScript reads a script for the given numbers of ranks and servers. Its error names the line.
func ParseScript(r io.Reader, ranks, servers int) (Script, error) {
	p := scriptParser{ranks: ranks, servers: servers, seed: 1}
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, maxLine), maxLine)
	n := 0
	for lines.Scan() {
		if n++; n > maxLines {
			return Script{}, fmt.Errorf("line %d: a script has at most %d lines", n, maxLines)
		}
		if err := p.line(lines.Text()); err != nil {
			return Script{}, fmt.Errorf("line %d: %w", n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return Script{}, fmt.Errorf("line %d: %w (a line has at most %d bytes)", n+1, err, maxLine)
	}
	return p.finish()
}

// scriptParser is the state of ParseScript.
type scriptParser struct {
	ranks, servers int
	seed           uint64
	run, answer    []spread
	out            Script
}

// spread is a time, or a range of times, for some ranks.
type spread struct {
	ranks       rank.Set
	least, most time.Duration
}

// line reads one line.
func (p *scriptParser) line(line string) error {
	word, rest := cut(line)
	if word == "" || word[0] == '#' {
		return nil
	}
	if word != "output" {
		rest, _, _ = strings.Cut(rest, "#")
		rest = strings.TrimSpace(rest)
	}
	read, ok := map[string]func(string) error{
		"run": func(s string) error { return p.times(&p.run, s) }, "answer": func(s string) error { return p.times(&p.answer, s) },
		"stacks": p.stacks, "value": p.value, "crash": p.crash, "fail": p.fail,
		"hang":    func(s string) error { return p.set(&p.out.Behaviour.Hang, s) },
		"loop":    func(s string) error { return p.set(&p.out.Behaviour.Loop, s) },
		"barrier": func(s string) error { return p.set(&p.out.Behaviour.Barrier, s) },
		"ring":    func(s string) error { return p.set(&p.out.Behaviour.Ring, s) },
		"output": func(s string) error {
			p.out.Behaviour.Output = s + "\n"
			return nil
		},
		"after": p.action, "seed": p.setSeed,
	}[word]
	if !ok {
		return fmt.Errorf("unknown statement %q (sdm help sim lists them)", word)
	}
	if rest == "" {
		return fmt.Errorf("%s: something is missing after it (sdm help sim shows the form)", word)
	}
	return read(rest)
}

// cut splits off the first word.
func cut(s string) (word, rest string) {
	s = strings.TrimSpace(s)
	i := strings.IndexAny(s, " \t")
	if i < 0 {
		return s, ""
	}
	return s[:i], strings.TrimSpace(s[i:])
}

// times reads the rest of a run or answer statement: TIME [SET].
func (p *scriptParser) times(to *[]spread, s string) error {
	word, rest := cut(s)
	least, most, err := parseTimes(word)
	if err != nil {
		return err
	}
	sp := spread{ranks: p.all(), least: least, most: most}
	if rest != "" {
		if sp.ranks, err = p.parseSet(rest, p.ranks); err != nil {
			return err
		}
	}
	*to = append(*to, sp)
	return nil
}

// all returns all ranks.
func (p *scriptParser) all() rank.Set { return rank.Range(0, rank.ID(p.ranks-1)) }

// parseTimes reads "5ms" or "0ms..200ms".
func parseTimes(s string) (least, most time.Duration, err error) {
	from, to, ranged := strings.Cut(s, "..")
	if least, err = parseTime(from); err != nil || !ranged {
		return least, least, err
	}
	if most, err = parseTime(to); err == nil && most < least {
		err = fmt.Errorf("%s ends before it begins", s)
	}
	return least, most, err
}

// parseTime reads "5ms".
func parseTime(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 || d > 24*time.Hour {
		return 0, fmt.Errorf("%q is no time (100us, 5ms, 2s; at most 24h)", s)
	}
	return d, nil
}

// parseSet reads a set of numbers below n.
func (p *scriptParser) parseSet(s string, n int) (rank.Set, error) {
	return rank.Parse(s, rank.Env{All: rank.Range(0, rank.ID(n-1))})
}

// set adds a set of ranks to another one.
func (p *scriptParser) set(to *rank.Set, s string) error {
	set, err := p.parseSet(s, p.ranks)
	*to = to.Union(set)
	return err
}

// number reads a number from least to most.
func (p *scriptParser) number(s string, least, most int) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("%q is no number from %d to %d", s, least, most)
	}
	return n, nil
}

// stacks reads the rest of a stacks statement.
func (p *scriptParser) stacks(s string) (err error) {
	p.out.Behaviour.Variants, err = p.number(s, 1, 1<<20)
	return err
}

// setSeed reads the rest of a seed statement.
func (p *scriptParser) setSeed(s string) (err error) {
	p.seed, err = strconv.ParseUint(s, 10, 64)
	return err
}

// tail splits "A WORD B" at the last WORD; b is "" if there is none.
func tail(s, word string) (a, b string) {
	if i := strings.LastIndex(s, " "+word+" "); i >= 0 {
		return strings.TrimSpace(s[:i]), strings.TrimSpace(s[i+len(word)+2:])
	}
	return s, ""
}

// value reads the rest of a value statement.
func (p *scriptParser) value(s string) error {
	s, set := tail(s, "for")
	name, expr, ok := strings.Cut(s, "=")
	v := sim.Variable{Name: strings.TrimSpace(name), Expr: strings.TrimSpace(expr), Ranks: p.all()}
	if !ok || v.Expr == "" {
		return fmt.Errorf("%q: give NAME = EXPR", s)
	}
	if plain, count, isArray := strings.Cut(v.Name, "["); isArray {
		n, err := strconv.Atoi(strings.TrimSuffix(count, "]"))
		if err != nil || n < 1 || !strings.HasSuffix(count, "]") {
			return fmt.Errorf("%q: an array is NAME[NUMBER OF ELEMENTS]", v.Name)
		}
		v.Name, v.Elements = strings.TrimSpace(plain), n
	}
	if set != "" {
		var err error
		if v.Ranks, err = p.parseSet(set, p.ranks); err != nil {
			return err
		}
	}
	p.out.Behaviour.Variables = append(p.out.Behaviour.Variables, v)
	return nil
}

// crash reads the rest of a crash statement.
func (p *scriptParser) crash(s string) error {
	s, line := tail(s, "at")
	if line != "" {
		n, err := p.number(line, 1, 1000)
		if err != nil {
			return err
		}
		p.out.Behaviour.CrashLine = n
	}
	return p.set(&p.out.Behaviour.Crash, s)
}

// fail reads the rest of a fail statement.
func (p *scriptParser) fail(s string) error {
	s, code := tail(s, "with")
	if code != "" {
		n, err := p.number(code, 0, 255)
		if err != nil {
			return err
		}
		p.out.Behaviour.FailCode = n
	}
	return p.set(&p.out.Behaviour.Fail, s)
}

// action reads the rest of an after statement.
func (p *scriptParser) action(s string) error {
	word, rest := cut(s)
	after, err := parseTime(word)
	if err != nil {
		return err
	}
	verb, rest := cut(rest)
	object, rest := cut(rest)
	if verb != "kill" || strings.TrimSuffix(object, "s") != "server" || rest == "" {
		return fmt.Errorf("%q: give after TIME kill server SET", s)
	}
	set, err := p.parseSet(rest, p.servers)
	if err != nil {
		return err
	}
	p.out.Actions = append(p.out.Actions, Action{After: after, Kill: set})
	return nil
}

// finish makes functions of the times, sorts the actions and returns the script.
func (p *scriptParser) finish() (Script, error) {
	b := &p.out.Behaviour
	b.Seed = p.seed
	if p.run != nil || p.answer != nil {
		b.Clock = sim.Wall{}
		b.RunTime, b.AnswerTime = drawn(p.run, p.seed), drawn(p.answer, p.seed+1)
	}
	slices.SortStableFunc(p.out.Actions, func(a, b Action) int { return cmp.Compare(a.After, b.After) })
	return p.out, b.Validate()
}

// drawn returns the function that draws a time from the last spread that contains the rank; nil
// without spreads.
func drawn(spreads []spread, seed uint64) func(rank.ID, int) time.Duration {
	if len(spreads) == 0 {
		return nil
	}
	return func(r rank.ID, run int) time.Duration {
		for i := len(spreads) - 1; i >= 0; i-- {
			if s := &spreads[i]; s.ranks.Contains(r) {
				return sim.Spread(s.least, s.most, r, run, seed)
			}
		}
		return 0
	}
}
