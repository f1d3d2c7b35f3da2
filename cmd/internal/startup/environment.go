// Environment variables in place of flags.

package startup

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// VariableOf returns the name of the environment variable of a flag: SDM_CONNECT_WAIT for --connect-wait.
func VariableOf(flag *pflag.Flag) string {
	return "SDM_" + strings.ToUpper(strings.ReplaceAll(flag.Name, "-", "_"))
}

// FromEnvironment sets the flags that were not given from their environment variables. If a flag of
// an exclusive group was given, the variables of the whole group are ignored. The error wraps
// pflag's.
func FromEnvironment(f *pflag.FlagSet, env []string, exclusive ...[]string) error {
	excluded := map[string]bool{}
	for _, group := range exclusive {
		if slices.ContainsFunc(group, f.Changed) {
			for _, name := range group {
				excluded[name] = true
			}
		}
	}
	variables := map[string]*pflag.Flag{}
	f.VisitAll(func(flag *pflag.Flag) {
		if !flag.Changed && flag.Name != "version" && !excluded[flag.Name] {
			variables[VariableOf(flag)] = flag
		}
	})
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		flag := variables[name]
		if flag == nil || value == "" {
			continue
		}
		if err := f.Set(flag.Name, value); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}
