// Values of Fortran: their expressions are read in C.

package ptp

import (
	"context"
	"regexp"

	"sdm/protocol/rank"
)

// inC returns values that were read as expressions of C, and otherwise what the language of the frame
// gave.
func (v *valuer) inC(ctx context.Context, expr string, ranks rank.Set, follow bool, otherwise ...value) []value {
	if v.language != "" {
		return otherwise
	}
	c := *v
	c.language, expr = "c", fromZero(expr)
	var out []value
	rest := ranks
	for _, x := range c.values(ctx, expr, ranks, follow) {
		if !x.none {
			out = append(out, x)
			rest = rest.Minus(x.ranks)
		}
	}
	v.asked = c.asked
	for _, x := range otherwise {
		if x.ranks = x.ranks.Intersect(rest); !x.ranks.IsEmpty() {
			out = append(out, x)
		}
	}
	return out
}

// fortranType matches types as gdb's Fortran writes them.
var fortranType = regexp.MustCompile(`^type = (?:Type |character|[a-z]+\(kind=[0-9]+\))`)

func isFortran(whatis string) bool { return fortranType.MatchString(whatis) }

// notFortran matches errors of gdb's Fortran about what Eclipse writes as C does.
var notFortran = regexp.MustCompile(`syntax error|Argument to arithmetic operation`)

// index matches what Eclipse writes for an element: (x)[3].
var index = regexp.MustCompile(`^\((.*)\)\[([0-9]+)\]$`)

// member matches what it writes for a member: (x).y, (x)->y.
var member = regexp.MustCompile(`^\((.*)\)((?:\.|->)\w+)$`)

// fromZero writes elements by their distance from the first one: gdb's C counts those of Fortran from
// the bound that is declared, and Eclipse counts from 0.
func fromZero(expr string) string {
	if found := index.FindStringSubmatch(expr); found != nil {
		return "*((" + fromZero(found[1]) + ")+" + found[2] + ")"
	}
	if found := member.FindStringSubmatch(expr); found != nil {
		return "(" + fromZero(found[1]) + ")" + found[2]
	}
	return expr
}
