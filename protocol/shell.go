// Recognition of shells.

package protocol

import (
	"path/filepath"
	"slices"
)

// shells are the names of shells.
var shells = []string{"sh", "dash", "bash", "ash", "busybox", "ksh", "ksh93", "mksh", "zsh", "zsh5", "csh", "tcsh", "fish"}

// IsShell reports whether a program is a shell. If a rank is a shell, the program
// to be debugged is the one that it starts.
func IsShell(program string) bool { return slices.Contains(shells, filepath.Base(program)) }
