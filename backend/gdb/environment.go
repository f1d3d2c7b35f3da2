// The environment of gdbs.

package gdb

import (
	"cmp"
	"os"
	"slices"
	"strings"

	"sdm/protocol"
)

// Environment returns the environment for gdb: this process's, without variables that are private
// or would do harm. SDM_* may name secrets; DEBUGINFOD_URLS would let gdb use the network. With
// PYTHONUNBUFFERED, which container images often set, the Python in gdb makes gdb's standard output
// unbuffered: each record is written byte by byte, 22,000 system calls for the libraries of one MPI
// rank.
func Environment() []string { return environment(os.Environ()) }

// environment makes that from another environment.
func environment(whole []string) []string {
	var env []string
	for _, e := range whole {
		if !strings.HasPrefix(e, "SDM_") && !strings.HasPrefix(e, "DEBUGINFOD_") && !strings.HasPrefix(e, "PYTHONUNBUFFERED=") {
			env = append(env, e)
		}
	}
	return readable(env)
}

// readable makes gdb print text unchanged: from version 18 on it prints non-ASCII
// characters in octal if the locale is not UTF-8, whatever "set charset" says.
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

// Recordable returns environment settings with which the C library avoids vector
// instructions that gdb cannot record, and resolves its functions before the program
// starts. They do not replace what the user has set.
func Recordable() []protocol.EnvDirective {
	return []protocol.EnvDirective{
		{Op: "add", Name: "LD_BIND_NOW", Value: "1"},
		{Op: "add", Name: "GLIBC_TUNABLES", Value: "glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW,-AVX2,-AVX,-AVX2_Usable,-AVX_Fast_Unaligned_Load,-XSAVEC,-XSAVE,-ERMS,-BMI2,-RTM"},
	}
}
