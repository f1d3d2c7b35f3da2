// Spellings of flags that users know from other launchers.

package main

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// respell replaces mpirun's -np, which GNU conventions would read as -n p, by --np. It stops at the
// first word that is not one of our flags or its value.
func respell(f *pflag.FlagSet, args []string) []string {
	out := slices.Clone(args)
	for i := 0; i < len(out); i++ {
		arg := out[i]
		if arg == "--" || !strings.HasPrefix(arg, "-") {
			break
		}
		if arg == "-np" || strings.HasPrefix(arg, "-np=") {
			out[i] = "-" + arg
		}
		if takesNext(f, out[i]) {
			i++
		}
	}
	return out
}

// takesNext reports whether the next word is the value of a flag.
func takesNext(f *pflag.FlagSet, arg string) bool {
	var flag *pflag.Flag
	if name, long := strings.CutPrefix(arg, "--"); long {
		if strings.Contains(name, "=") {
			return false
		}
		flag = f.Lookup(name)
	} else if len(arg) == 2 {
		flag = f.ShorthandLookup(arg[1:])
	}
	return flag != nil && flag.NoOptDefVal == ""
}
