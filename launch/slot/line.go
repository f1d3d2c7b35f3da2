// Package slot starts servers in the places ("slots") in which a starter (mpirun, mpiexec, srun)
// would have started the ranks: for starters without MPIR, and wherever this is simpler.
package slot

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Line is a parsed command line of a starter.
type Line struct {
	Argv     []string // the starter first; never written
	Programs []Program
	// IsOpenMPI reports that the starter is Open MPI's mpirun under any name.
	IsOpenMPI bool
	// IsTorchrun reports that a program runs in the slots of torchrun. Restarts is how often the user
	// wanted torchrun to start them again, "" if not said.
	IsTorchrun bool
	Restarts   string
}

// Program is one of the programs that a line starts. Several are separated by colons.
type Program struct {
	At  int // index of its name in Argv
	End int // index after its last argument
	NP  int // number of ranks on the line; 0: not given

	dashed bool // a "--" precedes it
}

// Parse finds the programs in a starter's command line: they follow the options, some of which
// have values. resolved is the file that the starter's name is a link to, for the few options that
// mean different things to different starters; "" if it is not known. isProgram reports whether a
// word could be started, which decides about unknown options; it may look at files.
func Parse(argv []string, resolved string, isProgram func(word string) bool) (Line, error) {
	if len(argv) == 0 {
		return Line{}, errors.New("no starter is given")
	}
	p := parser{line: Line{Argv: argv, IsOpenMPI: isOpenMPI(argv[0], resolved)}, dialect: dialectOf(argv[0], resolved),
		isProgram: isProgram}
	for at := 1; ; at++ {
		end, err := p.part(at)
		if err != nil {
			return Line{}, err
		}
		if at = end; at >= len(argv) {
			return p.line, nil
		}
	}
}

// parser reads a line from left to right.
type parser struct {
	line      Line
	dialect   dialect
	isProgram func(string) bool
}

// part reads one program with its options, from at to the next colon, and returns the index of the
// colon.
func (p *parser) part(at int) (end int, err error) {
	argv := p.line.Argv
	program := Program{}
	for at < len(argv) && isOption(argv[at]) {
		if argv[at] == "--" {
			program.dashed = true
			at++
			break
		}
		o := p.option(at)
		if o.instead {
			return 0, fmt.Errorf("%s takes the programs from a file, where sdm cannot put its servers before them (give the programs in the line, with colons)", argv[at])
		}
		if o.isNP {
			program.NP = o.number
		}
		at += 1 + o.values
	}
	if at >= len(argv) || argv[at] == ":" {
		return 0, fmt.Errorf("%s: which program? (%s [its options] PROGRAM [ARG...])", argv[0], filepath.Base(argv[0]))
	}
	program.At, program.End = at, len(argv)
	if colon := slices.Index(argv[at:], ":"); colon >= 0 {
		program.End = at + colon
	}
	p.line.Programs = append(p.line.Programs, program)
	return program.End, nil
}

func isOption(word string) bool { return len(word) > 1 && word[0] == '-' }

// option is the meaning of an option for Parse.
type option struct {
	values  int  // number of following words that are its values
	isNP    bool // it gives the number of ranks
	number  int  // of ranks, if isNP
	instead bool // it names a file in place of the programs
}

// option reads the option at an index.
func (p *parser) option(at int) option {
	argv := p.line.Argv
	text := argv[at]
	name, value, joined := strings.Cut(strings.TrimLeft(text, "-"), "=")
	o := option{instead: slices.Contains(p.dialect.instead, name)}
	if n, known := p.dialect.values(text, name); known {
		o.values = n
	} else {
		o.values = p.guess(at)
	}
	if joined || at+o.values >= len(argv) {
		o.values = 0
	} else if o.values > 0 {
		value = argv[at+1]
	}
	if !slices.Contains(p.dialect.np, name) {
		name, value = p.dialect.glued(text)
	}
	if slices.Contains(p.dialect.np, name) {
		number, err := strconv.Atoi(value)
		o.isNP, o.number = err == nil && number > 0, number
	}
	return o
}

// guess decides whether an unknown option has a value: it has none if the next word is an option
// or could be the program.
func (p *parser) guess(at int) int {
	argv := p.line.Argv
	if at+2 >= len(argv) || isOption(argv[at+1]) || strings.Contains(argv[at], "=") || p.isProgram(argv[at+1]) {
		return 0
	}
	return 1
}

// Wrap returns the line with a server before each program; the program follows "--" as arguments
// of the server. server returns the command line of the server for program i.
func (l Line) Wrap(server func(i int) []string) []string {
	var out []string
	last := 0
	for i, p := range l.Programs {
		before := l.Argv[last:p.At]
		if p.dashed { // Wrap adds its own
			before = before[:len(before)-1]
		}
		out = append(out, before...)
		out = append(out, server(i)...)
		out = append(out, "--")
		last = p.At
	}
	return append(out, l.Argv[last:]...)
}

// Words returns the name and the arguments of program i.
func (l Line) Words(i int) []string { return l.Argv[l.Programs[i].At:l.Programs[i].End] }

// Ranks returns how many ranks the line asks for, 0 if it leaves that to the starter.
func (l Line) Ranks() int {
	sum := 0
	for _, p := range l.Programs {
		if p.NP == 0 {
			return 0
		}
		sum += p.NP
	}
	return sum
}
