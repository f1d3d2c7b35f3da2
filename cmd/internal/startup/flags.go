package startup

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/pflag"
)

// NewFlags makes the set of flags of a program or subcommand. It writes nothing by
// itself, keeps the order in which flags are declared, and ends at the first word
// that is none: what follows PROGRAM belongs to it.
func NewFlags(name string) *pflag.FlagSet {
	f := pflag.NewFlagSet(name, pflag.ContinueOnError)
	f.SetOutput(io.Discard) // the caller prints one line
	f.SortFlags = false
	f.SetInterspersed(false)
	return f
}

// Read reads the command line (its first word is the program's name), then the
// environment for what it does not say; see FromEnvironment. Asked for help, it
// writes usage, the flags and footer to stdout; the error is pflag.ErrHelp then.
func Read(f *pflag.FlagSet, args, env []string, stdout io.Writer, usage, footer string, exclusive ...[]string) error {
	err := f.Parse(args[1:])
	if errors.Is(err, pflag.ErrHelp) {
		fmt.Fprint(stdout, usage+"Flags:\n"+f.FlagUsagesWrapped(100)+footer)
		return pflag.ErrHelp
	}
	if err == nil {
		err = FromEnvironment(f, env, exclusive...)
	}
	if err != nil {
		return fmt.Errorf("%w; see %s --help", err, f.Name())
	}
	return nil
}
