// Flag sets of the programs, and reading them.

package startup

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"sdm/cmd/internal/manpage"
)

// NewFlags makes the flag set of a program or subcommand. It writes nothing by itself, keeps the
// order of declaration, and ends at the first word that is not a flag, because what follows PROGRAM
// belongs to PROGRAM.
func NewFlags(name string) *pflag.FlagSet {
	f := pflag.NewFlagSet(name, pflag.ContinueOnError)
	f.SetOutput(io.Discard) // the caller prints one line
	f.SortFlags = false
	f.SetInterspersed(false)
	return f
}

// Read reads the command line (args[0] is the program's name), and then the environment for flags
// that were not given; see FromEnvironment. If help is asked for, it writes usage, the flags and
// footer to stdout and returns pflag.ErrHelp.
//
// With --man alone it writes them as a manual page.
func Read(f *pflag.FlagSet, args, env []string, stdout io.Writer, usage, footer string, exclusive ...[]string) error {
	if len(args) == 2 && args[1] == "--man" {
		about, text, _ := strings.Cut(usage, "\n\n")
		_, brief, _ := strings.Cut(strings.ReplaceAll(about, "\n", " "), " is ")
		brief, _, _ = strings.Cut(brief, ":")
		io.WriteString(stdout, manpage.Page{
			Name: f.Name(), Section: 1, Brief: strings.TrimSuffix(brief, "."), Text: f.Name() + " [flags]\n\n" + about + "\n\n" + text,
			Sections: []manpage.Section{{Title: "Flags", Flags: f}}, Foot: footer, Also: []string{"sdm(1)"}, Build: Build(), Date: Date,
		}.Roff())
		return pflag.ErrHelp
	}
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
