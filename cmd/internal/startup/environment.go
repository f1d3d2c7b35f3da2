package startup

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// Twin is the name of the environment variable that stands in for a flag:
// SDM_CONNECT_WAIT for --connect-wait.
func Twin(flag *pflag.Flag) string {
	return "SDM_" + strings.ToUpper(strings.ReplaceAll(flag.Name, "-", "_"))
}

// FromEnvironment sets the flags that were not given from their twins. Of each
// group of exclusive flags, one that was given is the only one that counts: none of
// the others is then taken from the environment. The error wraps that of pflag.
func FromEnvironment(f *pflag.FlagSet, env []string, exclusive ...[]string) error {
	excluded := map[string]bool{}
	for _, group := range exclusive {
		if slices.ContainsFunc(group, f.Changed) {
			for _, name := range group {
				excluded[name] = true
			}
		}
	}
	twins := map[string]*pflag.Flag{}
	f.VisitAll(func(flag *pflag.Flag) {
		if !flag.Changed && flag.Name != "version" && !excluded[flag.Name] {
			twins[Twin(flag)] = flag
		}
	})
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		flag := twins[name]
		if flag == nil || value == "" {
			continue
		}
		if err := f.Set(flag.Name, value); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}
