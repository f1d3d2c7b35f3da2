// Programs that start the ranks of a node for a starter.

package launch

import (
	"path/filepath"
	"slices"

	"sdm/protocol"
)

// helpers are the programs that a starter starts, one a node, to start its ranks: those of
// Open MPI, PRRTE, and the relatives of Hydra.
var helpers = []string{"orted", "prted", "hydra_pmi_proxy", "hydra_bstrap_proxy", "pmi_proxy"}

// IsHelper tells whether a program, with or without its path, is one of them.
func IsHelper(program string) bool { return slices.Contains(helpers, filepath.Base(program)) }

// HasHelpers tells whether a table names such programs in place of ranks: another starter
// has had them started, by srun.
func HasHelpers(table protocol.Proctable) bool {
	return slices.ContainsFunc(table, func(p protocol.Process) bool { return IsHelper(p.Program) })
}

// IsSrunOfHelpers tells whether a command line is srun that starts such programs.
func IsSrunOfHelpers(argv []string) bool {
	return len(argv) > 0 && filepath.Base(argv[0]) == "srun" && slices.ContainsFunc(argv, IsHelper)
}
