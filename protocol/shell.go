// Which programs only run others.

package protocol

import (
	"path/filepath"
	"slices"
)

// shells are the names of those that run scripts.
var shells = []string{"sh", "dash", "bash", "ash", "busybox", "ksh", "ksh93", "mksh", "zsh", "zsh5", "csh", "tcsh", "fish"}

// IsShell tells whether a program is a shell: of a rank that is one, what it runs is
// meant.
func IsShell(program string) bool { return slices.Contains(shells, filepath.Base(program)) }
