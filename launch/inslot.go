// Variables that tell a rank its own program.

package launch

import (
	"path"
	"slices"
	"strings"

	"sdm/protocol"
)

// InSlot returns the environment of a rank in whose slot a server was started: Open MPI names the
// program and its arguments (OMPI_COMMAND, OMPI_ARGV), and those name the server and its arguments
// until they are replaced here.
func InSlot(env []string, program string, args []string) []string {
	if !slices.ContainsFunc(env, func(e string) bool { return strings.HasPrefix(e, "OMPI_COMMAND=") }) {
		return env
	}
	argv := protocol.EnvDirective{Op: "set", Name: "OMPI_ARGV", Value: strings.Join(args, " ")}
	if len(args) == 0 {
		argv = protocol.EnvDirective{Op: "unset", Name: "OMPI_ARGV"}
	}
	return apply(apply(slices.Clone(env), protocol.EnvDirective{Op: "set", Name: "OMPI_COMMAND", Value: path.Base(program)}), argv)
}
