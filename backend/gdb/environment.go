// The environment of gdbs.

package gdb

import (
	"cmp"
	"os"
	"slices"
	"strings"
)

// Environment is what gdb gets: ours without what is ours alone, or would do harm there. SDM_* may
// name secrets; DEBUGINFOD_URLS would let gdb ask the network; and with PYTHONUNBUFFERED, which images
// of containers like to set, the Python in gdb takes the buffer of gdb's own standard output away: each
// record is then written letter by letter, 22,000 system calls to tell of the libraries of one MPI rank.
func Environment() []string { return environment(os.Environ()) }

// environment is that made of another one than ours.
func environment(whole []string) []string {
	var env []string
	for _, e := range whole {
		if !strings.HasPrefix(e, "SDM_") && !strings.HasPrefix(e, "DEBUGINFOD_") && !strings.HasPrefix(e, "PYTHONUNBUFFERED=") {
			env = append(env, e)
		}
	}
	return readable(env)
}

// readable has gdb show text as it is: from version 18 on it writes all that is not
// ASCII in octal where the locale is not of UTF-8, whatever "set charset" says.
func readable(env []string) []string {
	value := func(name string) string {
		for _, e := range env {
			if v, ok := strings.CutPrefix(e, name+"="); ok && v != "" {
				return v
			}
		}
		return ""
	}
	all := value("LC_ALL")
	effective := strings.ToLower(cmp.Or(all, value("LC_CTYPE"), value("LANG")))
	if strings.Contains(effective, "utf-8") || strings.Contains(effective, "utf8") {
		return env
	}
	env = slices.DeleteFunc(env, func(e string) bool {
		return strings.HasPrefix(e, "LC_CTYPE=") || all != "" && (strings.HasPrefix(e, "LC_") || strings.HasPrefix(e, "LANG="))
	})
	if all != "" {
		env = append(env, "LANG="+all)
	}
	return append(env, "LC_CTYPE=C.UTF-8")
}
