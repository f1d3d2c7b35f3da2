// Programs that start the ranks of one node for a starter.

package launch

import (
	"path/filepath"
	"slices"

	"sdm/protocol"
)

// helpers are the programs of which a starter starts one on each node, to start its ranks there:
// the daemons of Open MPI, of PRRTE, and of Hydra and its derivatives, and torchrun, which srun
// starts.
var helpers = []string{"torchrun", "orted", "prted", "hydra_pmi_proxy", "hydra_bstrap_proxy", "pmi_proxy"}

// IsHelper reports whether a program, with or without its path, is one of these helpers.
func IsHelper(program string) bool { return slices.Contains(helpers, filepath.Base(program)) }

// HasHelpers reports whether a table names helpers in place of ranks: then another starter has
// started them by srun.
func HasHelpers(table protocol.Proctable) bool {
	return slices.ContainsFunc(table, func(p protocol.Process) bool { return IsHelper(p.Program) })
}

// IsSrunOfHelpers reports whether a command line is an srun that starts helpers.
func IsSrunOfHelpers(argv []string) bool {
	return len(argv) > 0 && filepath.Base(argv[0]) == "srun" && slices.ContainsFunc(argv, IsHelper)
}
