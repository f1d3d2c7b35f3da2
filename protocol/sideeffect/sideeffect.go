// Package sideeffect tells from the text of an expression of gdb whether its evaluation may change something.
package sideeffect

import "sdm/protocol/pattern"

var (
	called     = pattern.New(`([\pL\pN_$]+)\s*\(`)
	indirect   = pattern.New(`\(\s*\*[^()]*\)\s*\(|[\]\w]>\(|\]\s*\(`) // (*f)(1), f<int>(x), table[1](x)
	noFunction = pattern.New(`^(?:[0-9]\w*|sizeof|alignof|_Alignof|char|short|int|long|unsigned|signed|float|double|bool|void)$`)
	assigned   = pattern.New(`\+\+|--|[^=!<>]=(?:[^=]|$)|<<=|>>=`)
)

// Calls reports whether an expression may call a function. In Fortran calls cannot be told from indices, and both
// count.
func Calls(expr string) bool {
	for _, found := range called.FindAllStringSubmatch(expr, -1) {
		if !noFunction.MatchString(found[1]) {
			return true
		}
	}
	return indirect.MatchString(expr)
}

// Of reports whether the evaluation of an expression may change something: it assigns, or calls a function. In Fortran
// only assignments count; see Calls.
func Of(expr string, fortran bool) bool { return Assigns(expr) || !fortran && Calls(expr) }

// Assigns reports whether an expression assigns something. /= does in C, and compares in Fortran; it counts.
func Assigns(expr string) bool { return assigned.MatchString(expr) }
