// Package sim provides simulated ranks: a back end without engine and
// processes, for tests, for trying a front end, and for trees at scale.
package sim

import (
	"fmt"
	"time"

	"sdm/protocol"
	"sdm/protocol/rank"
)

// Config says how the simulated ranks behave. The zero Config is a program that
// is the same on all ranks but for its data, answers at once and ends with 0.
type Config struct {
	// Size is the number of ranks of the job, the variable `size` of the
	// program. 0 is 1.
	Size int
	// Variants is how many different stacks there are below compute: rank r goes
	// through a function phase_K, K = r modulo Variants. 0 and 1: no such
	// function, one stack for all.
	Variants int
	// Crash are the ranks that die of SIGSEGV at line CrashLine of work.c; 0 is
	// the first line of helper.
	Crash     rank.Set
	CrashLine int
	// Fail are the ranks whose exit code is FailCode; 0 is 1.
	Fail     rank.Set
	FailCode int
	// Hang are the ranks that answer nothing once they have been started.
	Hang rank.Set
	// Loop are the ranks that, once in main, run until they are interrupted when
	// they are continued; steps end as for the others.
	Loop rank.Set
	// Output is what every rank writes to standard output at line 22, a newline
	// included; %r in it is the rank. "": nothing.
	Output string
	// Variables are what the program has besides its own.
	Variables []Variable
	// Library may be shared by back ends of one Config; nil: a new one.
	Library *Library
	// Seed is for what looks random.
	Seed uint64
	// RunTime is how long a rank runs from where it is resumed to its next stop;
	// run counts its runs from 1. It is called by the goroutines of several back
	// ends, if they share it. nil: no time at all.
	RunTime func(r rank.ID, run int) time.Duration
	// AnswerTime is how long a rank thinks before each answer in that run. As
	// RunTime.
	AnswerTime func(r rank.ID, run int) time.Duration
	// Clock is required where one of the times is given; nothing else here
	// knows of time.
	Clock Clock
}

// Clock is where delays come from.
type Clock interface {
	// Now gives the time; only differences matter.
	Now() time.Time
	// AfterFunc calls f after d, on any goroutine, unless stop is called
	// before. stop does not wait for an f that runs.
	AfterFunc(d time.Duration, f func()) (stop func())
}

// Wall is the real clock.
type Wall struct{}

// Now gives the time of day.
func (Wall) Now() time.Time { return time.Now() }

// AfterFunc is time.AfterFunc.
func (Wall) AfterFunc(d time.Duration, f func()) (stop func()) {
	t := time.AfterFunc(d, f)
	return func() { t.Stop() }
}

// Validate says which field is wrong and why.
func (c Config) Validate() error {
	const mostVariants = 1 << 20 // one for each rank of the largest trees that are tried
	switch {
	case c.Size < 0:
		return fmt.Errorf("size %d is negative", c.Size)
	case c.Variants < 0 || c.Variants > mostVariants:
		return fmt.Errorf("variants %d is not from 0 to %d", c.Variants, mostVariants)
	case c.FailCode < 0 || c.FailCode > 255:
		return fmt.Errorf("exit code %d is not from 0 to 255", c.FailCode)
	case c.CrashLine != 0 && newProgram(1).at(c.CrashLine) < 0:
		return fmt.Errorf("crash line %d of %s has no code", c.CrashLine, sourceFile)
	case c.Clock == nil && (c.RunTime != nil || c.AnswerTime != nil):
		return fmt.Errorf("a delay needs a clock")
	}
	return c.validateVariables()
}

// withDefaults fills in what zero stands for.
func (c Config) withDefaults() Config {
	c.Size = max(c.Size, 1)
	c.Variants = max(c.Variants, 1)
	if c.CrashLine == 0 {
		c.CrashLine = lineOfHelper
	}
	if c.Library == nil {
		c.Library = NewLibrary()
	}
	if c.FailCode == 0 {
		c.FailCode = 1
	}
	return c
}

// exit gives how a rank ends when it is not stopped.
func (c *Config) exit(r rank.ID) protocol.Exit {
	if c.Fail.Contains(r) {
		return protocol.Exit{Code: c.FailCode}
	}
	return protocol.Exit{}
}

// PID gives the number that a simulated rank has instead of a process id: a
// rank that is launched without processes is known by it.
func PID(r rank.ID) int { return 1_000_000 + int(r) }
