// Command lines of remote shells.

package ssh

import (
	"path/filepath"
	"slices"
)

// Default returns the remote shell that is used unless another is named; it does not prompt.
func Default() []string { return slices.Clone(defaultShell) }

// Argv returns the command line by which a remote shell runs a line of a POSIX shell on a host.
// kubectl takes a pod for the host and words in place of a line: it reads our standard input, and
// ends with the status of the line, but passes no environment and no working directory.
func Argv(shell []string, host, line string) []string {
	if !isKubectl(shell) {
		// The user's shell there need not be a POSIX shell.
		return append(slices.Clone(shell), host, "exec /bin/sh -c "+Quote(line))
	}
	argv := slices.Clone(shell)
	if !slices.Contains(shell, "exec") {
		argv = append(argv, "exec")
	}
	if !slices.ContainsFunc(shell, func(w string) bool { return w == "-i" || w == "--stdin" || w == "--stdin=true" }) {
		argv = append(argv, "-i")
	}
	return append(argv, host, "--", "/bin/sh", "-c", line)
}

// isKubectl reports whether a remote shell is kubectl of Kubernetes, or oc of OpenShift.
func isKubectl(shell []string) bool {
	return len(shell) > 0 && slices.Contains([]string{"kubectl", "oc"}, filepath.Base(shell[0]))
}
