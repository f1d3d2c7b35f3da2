// Variables that the configuration adds to the program.

package sim

import (
	"fmt"
	"time"

	"sdm/protocol/rank"
)

// Variable is a global variable of the program.
type Variable struct {
	Name string
	// Expr is its value, an expression over rank, size, noise (0 to 999, depending on rank and
	// Seed) and the variables before it.
	Expr  string
	Ranks rank.Set // ranks that have it; of several with one name the last counts
	// Elements makes it an array of that many elements; Expr is the value of element i. 0: no
	// array.
	Elements int
}

// maxVariables bounds the time of one evaluation.
const maxVariables = 100

// validateVariables evaluates each expression once. An error that only some ranks have (a division
// by zero) is reported when the variable is printed.
func (c *Config) validateVariables() error {
	if len(c.Variables) > maxVariables {
		return fmt.Errorf("%d variables, at most %d are possible", len(c.Variables), maxVariables)
	}
	there := scope{size: max(c.Size, 1), program: newProgram(1)}
	for i, v := range c.Variables {
		if !isName(v.Name) {
			return fmt.Errorf("%q cannot be the name of a variable", v.Name)
		}
		if v.Elements < 0 || v.Elements > maxElements {
			return fmt.Errorf("variable %s: %d elements are not from 1 to %d", v.Name, v.Elements, maxElements)
		}
		there.globals, there.indexed = everywhere(c.Variables[:i]), v.Elements > 0
		if _, bad := evaluate(v.Expr, there); bad != nil && bad.Message != divisionByZero {
			return fmt.Errorf("variable %s = %s: %s", v.Name, v.Expr, bad.Message)
		}
	}
	return nil
}

// everywhere returns the variables as if all ranks had them, to check names.
func everywhere(vs []Variable) []Variable {
	out := append([]Variable(nil), vs...)
	for i := range out {
		out[i].Ranks = rank.Of(0)
	}
	return out
}

// global finds a variable of the configuration that is visible in the scope.
func (s scope) global(name string) (value, bool) {
	for i := len(s.globals) - 1; i >= 0; i-- {
		v := &s.globals[i]
		if v.Name != name || !v.Ranks.Contains(s.rank) {
			continue
		}
		if s.known == nil {
			s.known = make(map[int]value)
		}
		if v.Elements > 0 {
			return value{text: "{...}", opaque: true}, true
		}
		got, ok := s.known[i]
		if !ok {
			got = s.compute(i)
			s.known[i] = got
		}
		return got, true
	}
	return value{}, false
}

// compute evaluates variable i. Each variable is evaluated once within a command, however often
// later ones use it.
func (s scope) compute(i int) value {
	text := s.globals[i].Expr
	s.globals = s.globals[:i]
	v, bad := evaluate(text, s)
	if bad != nil {
		return value{text: "<" + bad.Message + ">", opaque: true}
	}
	return v
}

// noise returns a pseudorandom number that depends on rank and seed only.
func noise(r rank.ID, seed uint64) int64 {
	return int64(mix(uint64(r)^seed<<32) % 1000)
}

// mix mixes the bits of x: the finalizer of SplitMix64 (Steele, Lea and Flood, "Fast splittable
// pseudorandom number generators", 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Spread returns a pseudorandom time from least to most, both included, that depends on rank,
// number and seed only. It serves as RunTime and AnswerTime.
func Spread(least, most time.Duration, r rank.ID, number int, seed uint64) time.Duration {
	if most <= least {
		return least
	}
	return least + time.Duration(mix(mix(uint64(r)^seed<<32)^uint64(number))%uint64(most-least+1))
}
