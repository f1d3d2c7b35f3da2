// Package sim provides simulated ranks: a back end without an engine or processes, for tests, for
// development of front ends, and for trees at scale.
package sim

import (
	"fmt"
	"time"

	"sdm/protocol"
	"sdm/protocol/rank"
)

// Config says how the simulated ranks behave. With the zero Config all ranks run the same program
// with different data, answer at once and exit with 0.
type Config struct {
	// Size is the number of ranks of the job, the variable `size` of the
	// program. 0 is 1.
	Size int
	// Variants is the number of different stacks below compute: rank r calls a function phase_K, K
	// = r modulo Variants. 0 and 1: there is no such function, and all ranks have the same stack.
	Variants int
	// Crash are the ranks that get SIGSEGV at line CrashLine of work.c; CrashLine 0 is the first
	// line of helper.
	Crash     rank.Set
	CrashLine int
	// Fail are the ranks that exit with FailCode; FailCode 0 is 1.
	Fail     rank.Set
	FailCode int
	// Hang are the ranks that do not answer once they have been started.
	Hang rank.Set
	// Loop are the ranks that, once they are in main, run until they are interrupted when they are
	// continued; steps end as on other ranks.
	Loop rank.Set
	// Barrier are the ranks that are in MPI_Barrier on all ranks, as their stacks tell, and Ring those
	// that wait in MPI_Recv for the next rank. It is only told: they stop and run as others do.
	Barrier, Ring rank.Set
	// Output is the text that every rank writes to standard output at line 22, including a
	// newline; %r in it is replaced by the rank. "": nothing.
	Output string
	// Variables are additional variables of the program.
	Variables []Variable
	// Library may be shared by back ends with the same Config; nil: a new one.
	Library *Library
	// Seed seeds the pseudorandom values.
	Seed uint64
	// RunTime returns how long a rank runs from where it is resumed to its next stop; run counts
	// the runs of the rank from 1. Goroutines of several back ends may call it. nil: 0.
	RunTime func(r rank.ID, run int) time.Duration
	// AnswerTime returns the delay before each answer of a rank in that run. It is called as
	// RunTime is. nil: 0.
	AnswerTime func(r rank.ID, run int) time.Duration
	// Clock is required if RunTime or AnswerTime is set. Nothing else depends on time.
	Clock Clock
}

// Clock is the clock for delays.
type Clock interface {
	// Now returns the time; only differences matter.
	Now() time.Time
	// AfterFunc calls f after d, on any goroutine, unless stop is called before. stop does not
	// wait for a call of f that is under way.
	AfterFunc(d time.Duration, f func()) (stop func())
}

// Wall is the real clock.
type Wall struct{}

// Now returns time.Now.
func (Wall) Now() time.Time { return time.Now() }

// AfterFunc is time.AfterFunc.
func (Wall) AfterFunc(d time.Duration, f func()) (stop func()) {
	t := time.AfterFunc(d, f)
	return func() { t.Stop() }
}

// Validate returns an error that names a wrong field and the reason.
func (c Config) Validate() error {
	const maxVariants = 1 << 20 // one for each rank of the largest trees in tests
	switch {
	case c.Size < 0:
		return fmt.Errorf("size %d is negative", c.Size)
	case c.Variants < 0 || c.Variants > maxVariants:
		return fmt.Errorf("variants %d is not from 0 to %d", c.Variants, maxVariants)
	case c.FailCode < 0 || c.FailCode > 255:
		return fmt.Errorf("exit code %d is not from 0 to 255", c.FailCode)
	case c.CrashLine != 0 && newProgram(1).at(c.CrashLine) < 0:
		return fmt.Errorf("crash line %d of %s has no code", c.CrashLine, sourceFile)
	case c.Clock == nil && (c.RunTime != nil || c.AnswerTime != nil):
		return fmt.Errorf("a delay needs a clock")
	}
	return c.validateVariables()
}

// withDefaults replaces zero values by their defaults.
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

// exit returns how a rank ends at the end of the program.
func (c *Config) exit(r rank.ID) protocol.Exit {
	if c.Fail.Contains(r) {
		return protocol.Exit{Code: c.FailCode}
	}
	return protocol.Exit{}
}

// PID returns the number that is shown as the process id of a simulated rank, if the rank was
// launched without a process.
func PID(r rank.ID) int { return 1_000_000 + int(r) }
