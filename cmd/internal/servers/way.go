package servers

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"sdm/launch/slurm"
	"sdm/launch/ssh"
	"sdm/protocol"
)

// Way is how commands are started on other hosts. The zero value is ssh.
type Way struct {
	RemoteShell string // command in place of ssh
	StartTool   string // template of a command that starts all; it takes precedence
}

// IsChosen reports whether the way is another one than ssh.
func (w *Way) IsChosen() bool { return w.StartTool != "" || w.RemoteShell != "" }

// UseSlurm lets srun start the commands, unless another way is chosen already.
func (w *Way) UseSlurm() {
	if !w.IsChosen() {
		w.StartTool = slurm.Tool
	}
}

// UseShell uses the remote shell of a starter, unless another way is chosen already. For ssh sdm's
// own options are used, which suppress all prompts.
func (w *Way) UseShell(shell []string) {
	split := slices.ContainsFunc(shell, func(w string) bool { return strings.ContainsAny(w, " \t\n") })
	if !w.IsChosen() && len(shell) > 0 && !split && filepath.Base(shell[0]) != "ssh" {
		w.RemoteShell = strings.Join(shell, " ")
	}
}

// Shell returns the words of the remote shell; nil: ssh.
func (w *Way) Shell() []string { return strings.Fields(w.RemoteShell) }

// ShellHint is the advice for remote shells that start nothing.
const ShellHint = "is ssh set up, without a password? --remote-shell CMD names another; --start-tool CMD starts all"

// ToolLine fills in the template of a start tool and returns a line for the shell.
func ToolLine(template, id string, hosts, command []string) string {
	if !strings.Contains(template, "{daemon}") {
		template += " {daemon}"
	}
	return strings.NewReplacer("{jobid}", ssh.Quote(id), "{hosts}", ssh.Quote(strings.Join(hosts, ",")),
		"{nodes}", strconv.Itoa(len(hosts)), "{daemon}", ssh.QuoteAll(command)).Replace(template)
}

// IsHere reports whether host is this host, by name or by address.
func IsHere(host string) bool {
	own, _ := os.Hostname()
	if host == "localhost" || host == own || net.ParseIP(host) == nil && protocol.SameHost(host, own) {
		return true
	}
	addrs, err := net.LookupHost(host)
	if err != nil {
		return false
	}
	mine, err := net.InterfaceAddrs()
	if err != nil {
		return false
	}
	for _, m := range mine {
		if n, ok := m.(*net.IPNet); ok && slices.Contains(addrs, n.IP.String()) {
			return true
		}
	}
	return false
}

// HostName returns the name of this host, for tables made by sdm.
func HostName() string {
	if name, err := os.Hostname(); err == nil {
		return name
	}
	return "localhost"
}
