// Random sessions: the commands that follow from a seed.

package oracle

// A session is a list of commands for one program that a seed determines.

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"sdm/master/language"
)

// Line is one command of a session.
type Line struct {
	Word string   // its row in the table of words
	Text string   // as it is typed
	Body []string // of a block command: the lines that follow, without the last one, end
}

// Typed returns all lines that are typed for the command.
func (l Line) Typed() []string {
	if l.Body == nil {
		return []string{l.Text}
	}
	return append(append([]string{l.Text}, l.Body...), "end")
}

// ToGDB returns the lines that are typed to plain gdb.
func (l Line) ToGDB() []string {
	lines := l.Typed()
	lines[0] = strings.TrimPrefix(lines[0], "gdb ")
	return lines
}

// Session is the session of one seed for a program.
type Session struct {
	Program *Program
	Seed    uint64
	Lines   []Line
}

// String returns the commands as a script.
func (s Session) String() string {
	var all []string
	for _, l := range s.Lines {
		all = append(all, l.Typed()...)
	}
	return strings.Join(all, "\n") + "\n"
}

// gen draws the commands of a session.
type gen struct {
	r       *rand.Rand
	program *Program
	in      *Function // where the session is assumed to be
	points  int       // breakpoints so far
	shown   int       // displays so far
}

// share is how many words of a session follow from its seed without a random draw, so that sessions
// of consecutive seeds have all words of the table.
const share = 6

// rounds returns how many sessions of consecutive seeds have all words of the table.
func rounds() int { return (len(compared) + share - 1) / share }

// NewSession draws the session of a seed.
func NewSession(p *Program, seed uint64) Session {
	g := &gen{r: rand.New(rand.NewPCG(seed, 13)), program: p}
	g.in = g.main()
	s := Session{Program: p, Seed: seed}
	for _, word := range g.plan(seed) {
		l := g.line(word)
		if !isRead(l) {
			continue
		}
		s.Lines = append(s.Lines, l)
		if then := Words[word].Then; then != nil {
			s.Lines = append(s.Lines, g.lines(then(g))...)
		}
	}
	return s
}

// isRead reports whether sdm accepts a line. A script with another line is refused as a whole and
// could not be compared.
func isRead(l Line) bool {
	_, _, err := language.Parse(l.Text)
	return err == nil
}

// plan draws the words of a session.
func (g *gen) plan(seed uint64) []string {
	words := []string{g.one("break", "break", "tbreak"), g.one("continue", "continue", "next", "step")}
	rest := sure(seed)
	for range 4 + g.r.IntN(8) {
		rest = append(rest, g.weighted())
	}
	g.r.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
	slices.SortStableFunc(rest, func(a, b string) int { return ending[a] - ending[b] })
	return append(words, rest...)
}

// sure returns the words that follow from the seed; see share.
func sure(seed uint64) []string {
	var words []string
	for i := range share {
		words = append(words, compared[(int(seed%uint64(rounds()))*share+i)%len(compared)])
	}
	return words
}

// ending moves words that end ranks after the others.
var ending = map[string]int{"kill": 1, "detach": 1}

// weighted draws a word; frequent ones more often.
func (g *gen) weighted() string {
	total := 0
	for _, w := range compared {
		total += Words[w].weight()
	}
	n := g.r.IntN(total)
	for _, w := range compared {
		if n -= Words[w].weight(); n < 0 {
			return w
		}
	}
	panic("oracle: the weights of the words do not add up")
}

// line draws the arguments of a word.
func (g *gen) line(word string) Line {
	args := Words[word].Args(g)
	first, body, isBlock := strings.Cut(args, "\n")
	l := Line{Word: word, Text: strings.TrimSpace(word + " " + first)}
	if strings.HasPrefix(first, "/") { // a format
		l.Text = word + first
	}
	if isBlock {
		l.Body = strings.Split(body, "\n")
	}
	return l
}

// lines makes lines of typed text.
func (g *gen) lines(typed []string) []Line {
	var all []Line
	for _, text := range typed {
		word, _, _ := strings.Cut(text, " ")
		word, _, _ = strings.Cut(word, "/")
		if _, ok := Words[text]; ok {
			word = text
		}
		if l := (Line{Word: word, Text: text}); isRead(l) {
			all = append(all, l)
		}
	}
	return all
}

// one draws one of several texts.
func (g *gen) one(choices ...string) string { return choices[g.r.IntN(len(choices))] }

func (g *gen) fortran() bool { return g.program.Language == "fortran" }

// main returns the function main, or any function if there is none of this name.
func (g *gen) main() *Function {
	all := g.program.Symbols.Functions
	for i := range all {
		if all[i].Name == "main" {
			return &all[i]
		}
	}
	return g.function()
}

// function draws a function; nil if the program has none.
func (g *gen) function() *Function {
	all := g.program.Symbols.Functions
	if len(all) == 0 {
		return nil
	}
	return &all[g.r.IntN(len(all))]
}

// variable draws a variable, mostly one that is visible where the session is assumed to be.
func (g *gen) variable() (Variable, bool) {
	f := g.in
	if g.r.IntN(4) == 0 {
		f = g.function()
	}
	var all []Variable
	if f != nil {
		all = append(append(all, f.Params...), f.Locals...)
	}
	if g.r.IntN(2) == 0 || len(all) == 0 {
		all = g.program.Symbols.Globals
	}
	if len(all) == 0 {
		return Variable{}, false
	}
	return all[g.r.IntN(len(all))], true
}

// location draws a location in the program.
func (g *gen) location() string {
	f := g.function()
	if f == nil {
		return "main"
	}
	switch g.r.IntN(10) {
	case 0:
		return fmt.Sprintf("%s:%d", f.File, 1+g.r.IntN(f.Lines[len(f.Lines)-1]+3)) // with or without code
	case 1:
		return g.one("nosuch", "nosuch.c:5", fmt.Sprintf("%s:9999", f.File), "*0", f.File+":nosuch")
	case 2, 3, 4:
		g.in = f
		return fmt.Sprintf("%s:%d", f.File, f.Lines[g.r.IntN(len(f.Lines))])
	case 5:
		return fmt.Sprint(f.Lines[g.r.IntN(len(f.Lines))])
	case 6:
		g.in = f
		return f.File + ":" + f.Name
	}
	g.in = f
	return f.Name
}

// breakpoint draws a breakpoint number, mostly an existing one.
func (g *gen) breakpoint() string {
	if g.r.IntN(8) == 0 {
		return g.one("99", "0", "1.1", "$bpnum", "-1", "x")
	}
	return fmt.Sprint(1 + g.r.IntN(max(g.points, 1)))
}

// few draws a small count, mostly none.
func (g *gen) few(most int) string {
	if g.r.IntN(3) > 0 {
		return ""
	}
	return fmt.Sprint(1 + g.r.IntN(most))
}
