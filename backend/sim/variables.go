// Variables that a configuration adds to the program.

package sim

import (
	"fmt"
	"time"

	"sdm/protocol/rank"
)

// Variable is a global variable of the program.
type Variable struct {
	Name string
	// Expr is its value, an expression over rank, size, noise (0 to 999, another
	// one for each rank and Seed) and the variables before it.
	Expr  string
	Ranks rank.Set // that have it; of several with one name the last counts
	// Elements makes it an array of so many; Expr is the value of element i. 0: it
	// is none.
	Elements int
}

// mostVariables bounds what one look at a variable costs.
const mostVariables = 100

// validateVariables tries each expression; what only some ranks cannot compute
// (a division by zero) they say when they are asked.
func (c *Config) validateVariables() error {
	if len(c.Variables) > mostVariables {
		return fmt.Errorf("%d variables, at most %d are possible", len(c.Variables), mostVariables)
	}
	there := scope{size: max(c.Size, 1), program: newProgram(1)}
	for i, v := range c.Variables {
		if !isName(v.Name) {
			return fmt.Errorf("%q cannot be the name of a variable", v.Name)
		}
		if v.Elements < 0 || v.Elements > mostElements {
			return fmt.Errorf("variable %s: %d elements are not from 1 to %d", v.Name, v.Elements, mostElements)
		}
		there.globals, there.indexed = everywhere(c.Variables[:i]), v.Elements > 0
		if _, bad := evaluate(v.Expr, there); bad != nil && bad.Message != divisionByZero {
			return fmt.Errorf("variable %s = %s: %s", v.Name, v.Expr, bad.Message)
		}
	}
	return nil
}

// everywhere gives all ranks the variables, to see whether names are known.
func everywhere(vs []Variable) []Variable {
	out := append([]Variable(nil), vs...)
	for i := range out {
		out[i].Ranks = rank.Of(0)
	}
	return out
}

func isName(s string) bool {
	for i := range len(s) {
		if !isNameByte(s[i]) || s[i] == '.' || i == 0 && '0' <= s[i] && s[i] <= '9' {
			return false
		}
	}
	return s != ""
}

// global finds a variable of the configuration; those behind it do not count.
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

// compute evaluates variable i; each is evaluated once for one look, however
// often those behind it use it.
func (s scope) compute(i int) value {
	text := s.globals[i].Expr
	s.globals = s.globals[:i]
	v, bad := evaluate(text, s)
	if bad != nil {
		return value{text: "<" + bad.Message + ">", opaque: true}
	}
	return v
}

// noise is a number that looks random, the same for a rank at each look.
func noise(r rank.ID, seed uint64) int64 {
	return int64(mix(uint64(r)^seed<<32) % 1000)
}

// mix spreads the bits of x: the finalizer of SplitMix64 (Steele, Lea and Flood,
// "Fast splittable pseudorandom number generators", 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Spread is a time between least and most, ends included, that looks random: the
// same for the same rank, number and seed. It serves as RunTime and AnswerTime.
func Spread(least, most time.Duration, r rank.ID, number int, seed uint64) time.Duration {
	if most <= least {
		return least
	}
	return least + time.Duration(mix(mix(uint64(r)^seed<<32)^uint64(number))%uint64(most-least+1))
}
